import js from '@eslint/js';
import reactHooks from 'eslint-plugin-react-hooks';
import tseslint from 'typescript-eslint';

export default tseslint.config(
  { ignores: ['**/dist/', 'coverage/', '**/node_modules/', '.data/', 'client/schema.d.ts'] },
  js.configs.recommended,
  {
    files: ['**/*.ts', '**/*.tsx'],
    extends: [...tseslint.configs.recommendedTypeChecked, ...tseslint.configs.stylisticTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      // Of the strict set, what has caught mistakes here.
      '@typescript-eslint/no-confusing-void-expression': 'error',
      '@typescript-eslint/no-deprecated': 'error',
      '@typescript-eslint/no-dynamic-delete': 'error',
      // Nest modules are classes whose whole content is their decorator.
      '@typescript-eslint/no-extraneous-class': ['error', { allowWithDecorator: true }],
      '@typescript-eslint/no-meaningless-void-operator': 'error',
      '@typescript-eslint/no-misused-spread': 'error',
      '@typescript-eslint/no-non-null-assertion': 'error',
      '@typescript-eslint/no-unnecessary-boolean-literal-compare': 'error',
      '@typescript-eslint/no-unnecessary-condition': 'error',
      '@typescript-eslint/no-unnecessary-template-expression': 'error',
      '@typescript-eslint/no-unnecessary-type-arguments': 'error',
      '@typescript-eslint/no-unnecessary-type-parameters': 'error',
      '@typescript-eslint/restrict-plus-operands': 'error',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      // Express knows an error handler by its four parameters, and a destructuring by its places.
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/return-await': ['error', 'error-handling-correctness-only'],
      '@typescript-eslint/unified-signatures': 'error',
      '@typescript-eslint/use-unknown-in-catch-callback-variable': 'error',
    },
  },
  {
    // No source silences a rule.
    files: ['src/**'],
    linterOptions: { noInlineConfig: true },
    rules: {
      'max-lines': ['error', 200],
      '@typescript-eslint/ban-ts-comment': ['error', { 'ts-expect-error': true }],
      'no-restricted-syntax': ['error', 'ExportAllDeclaration', "Identifier[name='forwardRef']"],
    },
  },
  {
    // Only the module `config` reads the environment.
    files: ['src/**'],
    ignores: ['src/config/**'],
    rules: { 'no-restricted-properties': ['error', { object: 'process', property: 'env' }] },
  },
  {
    // Only the modules that every module uses are global.
    files: ['src/**'],
    ignores: ['src/config/**', 'src/database/**'],
    rules: {
      'no-restricted-imports': ['error', { paths: [{ name: '@nestjs/common', importNames: ['Global'] }] }],
    },
  },
  {
    // Event handlers of the storefront are arrows of one expression.
    files: ['examples/storefront/src/**'],
    extends: [reactHooks.configs.flat.recommended],
    rules: { '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }] },
  },
  {
    files: ['**/*.mjs', '**/*.js'],
    languageOptions: {
      globals: {
        process: 'readonly',
        console: 'readonly',
        URL: 'readonly',
        fetch: 'readonly',
        performance: 'readonly',
        FormData: 'readonly',
        Blob: 'readonly',
      },
    },
  },
);
