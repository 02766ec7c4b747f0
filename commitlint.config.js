/** A commit's first line is a sentence that says what changes for someone; the body says why. */
export default {
  parserPreset: { parserOpts: { headerPattern: /^(.*)$/, headerCorrespondence: ['subject'] } },
  plugins: [
    {
      rules: {
        'says-something': ({ header }) => [
          header !== null && !/^(wip|fix|fixes|update|misc|stuff|changes)\b\W*$/i.test(header),
          'the first line must say what changes',
        ],
      },
    },
  ],
  rules: {
    'header-min-length': [2, 'always', 12],
    'header-max-length': [2, 'always', 140],
    'body-leading-blank': [2, 'always'],
    'says-something': [2, 'always'],
  },
};
