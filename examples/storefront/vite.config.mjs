import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

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

const contentSecurityPolicyPlugin = {
  name: 'content-security-policy',
  apply: 'build',
  transformIndexHtml: () => [
    {
      tag: 'meta',
      attrs: { 'http-equiv': 'Content-Security-Policy', content: CONTENT_SECURITY_POLICY },
      injectTo: 'head-prepend',
    },
  ],
};

export default defineConfig({
  plugins: [react(), contentSecurityPolicyPlugin],
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
        // Three scripts: the shop, the pages for administrators and the account pages. The last two load on demand.
        codeSplitting: {
          // Otherwise `manage` and `account` would also contain their dependencies, for example React.
          includeDependenciesRecursively: false,
          groups: [
            { name: 'manage', test: /pages\/manage\// },
            { name: 'account', test: /pages\/account\/|react-hook-form|components\/form/ },
            { name: 'shop', test: /./ },
          ],
        },
      },
    },
  },
});
