import { readFile } from 'node:fs/promises';
import { marked } from 'marked';

const DOCS = new URL('../../../docs/', import.meta.url);

/** Owner's guides by page. */
const GUIDES = {
  'guide.html': { lang: 'en', title: "Owner's guide", source: 'guide.md' },
  'panduan.html': { lang: 'id', title: 'Panduan pemilik toko', source: 'panduan.md' },
};

/** Vite plugin that adds pages with the owner's guides from `docs/`. Each page contains its images. */
export const guidePlugin = {
  name: 'guide',
  configureServer({ middlewares }) {
    middlewares.use(async (request, response, next) => {
      const guide = GUIDES[request.url.slice(1)];
      if (guide === undefined) return next();
      response.setHeader('Content-Type', 'text/html').end(await renderGuide(guide));
    });
  },
  async generateBundle() {
    for (const [fileName, guide] of Object.entries(GUIDES))
      this.emitFile({ type: 'asset', fileName, source: await renderGuide(guide) });
  },
};

async function renderGuide({ lang, title, source }) {
  const content = marked.parse(await readFile(new URL(source, DOCS), 'utf8'));
  return `<!doctype html>
<html lang="${lang}">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>${title}</title>
    <link rel="icon" href="/icon.svg" type="image/svg+xml" />
    <link rel="stylesheet" href="/guide.css" />
  </head>
  <body>
    <main>${linkGuides(await embedImages(content))}</main>
  </body>
</html>
`;
}

async function embedImages(html) {
  const names = new Set([...html.matchAll(/src="(screenshots\/[\w-]+\.jpg)"/g)].map(([, name]) => name));
  let result = html;
  for (const name of names) {
    const image = await readFile(new URL(name, DOCS), 'base64');
    result = result.replaceAll(`src="${name}"`, `src="data:image/jpeg;base64,${image}"`);
  }
  return result;
}

function linkGuides(html) {
  return html.replaceAll(/href="(guide|panduan)\.md"/g, 'href="/$1.html"');
}
