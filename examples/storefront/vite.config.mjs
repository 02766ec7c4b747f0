import { fileURLToPath } from 'node:url';
import { compileMessage } from '@lingui/message-utils/compileMessage';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { guidePlugin } from './scripts/guide-plugin.mjs';
import { loadMessages } from './scripts/load-messages.mjs';

const client = fileURLToPath(new URL('../../client', import.meta.url));

/** The built page runs only its own scripts. Trusted Types keep scripts from inserting text as HTML. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'self'",
  "img-src 'self' http: https: blob: data:",
  "connect-src 'self' http: https:",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'self'",
  "require-trusted-types-for 'script'",
].join('; ');

/** The page connects to the service while its scripts are still loading. */
const SERVICE_URL = process.env.VITE_API_URL ?? 'http://localhost:3000';

const headPlugin = {
  name: 'head',
  apply: 'build',
  transformIndexHtml: () => [
    { tag: 'link', attrs: { rel: 'preconnect', href: SERVICE_URL, crossorigin: 'use-credentials' } },
    {
      tag: 'meta',
      attrs: { 'http-equiv': 'Content-Security-Policy', content: CONTENT_SECURITY_POLICY },
      injectTo: 'head-prepend',
    },
  ],
};

/** Compiles the messages at build time, so that the page does not contain a parser. */
const messagesPlugin = {
  name: 'messages',
  enforce: 'pre',
  async transform(_, id) {
    const [, language] = /\/src\/messages\/(\w+)\.ts$/.exec(id) ?? [];
    if (language === undefined) return undefined;
    const messages = Object.entries(await loadMessages(language));
    const compiled = Object.fromEntries(messages.map(([key, text]) => [key, compileMessage(text)]));
    return { code: `export const ${language} = ${JSON.stringify(compiled)};`, map: null };
  },
};

export default defineConfig({
  plugins: [messagesPlugin, guidePlugin, react(), headPlugin],
  // Compile the typed client from its sources. Use the openapi-fetch that is installed in this folder.
  resolve: {
    alias: [
      { find: /^bakery-client$/, replacement: `${client}/bakery-client.ts` },
      { find: /^bakery-client\//, replacement: `${client}/` },
    ],
    dedupe: ['openapi-fetch'],
  },
  server: { port: 5173, strictPort: true, fs: { allow: ['.', client] } },
  preview: { port: 5173, strictPort: true },
  build: {
    target: 'es2022',
    // Without the polyfill, browsers that do not support module preload only load imported scripts later.
    modulePreload: { polyfill: false },
    rolldownOptions: {
      output: {
        // Four scripts: the catalog; the products, the cart and the orders; the account pages; the pages for administrators. The
        // last two also load the script of the orders, which contains what these pages share.
        codeSplitting: {
          // Otherwise `manage` and `account` would also contain their dependencies, for example React.
          includeDependenciesRecursively: false,
          groups: [
            { name: 'messages-en', test: /messages\/en/ },
            { name: 'messages-id', test: /messages\/id/ },
            { name: 'manage', test: /pages\/manage\/|api\/(product-|refunds|reports|shrink-|upload-)/ },
            {
              name: 'orders',
              test: /pages\/(cart|orders?|product)\.|components\/(badge|cart-|checkout-|field|order-|pickup-|quantity-|question-|sign-in-)|api\/(checkout|idempotency|order-|orders)|\/(useMutation|useQueries|mutationObserver|queriesObserver)/,
            },
            { name: 'account', test: /pages\/account\/|react-hook-form|components\/form/ },
            { name: 'shop', test: /./ },
          ],
        },
      },
    },
  },
});
