import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

const client = fileURLToPath(new URL('../../client', import.meta.url));

/** The built page runs only its own files, and no text becomes markup (Trusted Types). */
const POLICY = [
  "default-src 'self'",
  "img-src 'self' http: https: blob: data:",
  "connect-src 'self' http: https:",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'self'",
  "require-trusted-types-for 'script'",
].join('; ');

const policy = {
  name: 'content-security-policy',
  apply: 'build',
  transformIndexHtml: () => [
    {
      tag: 'meta',
      attrs: { 'http-equiv': 'Content-Security-Policy', content: POLICY },
      injectTo: 'head-prepend',
    },
  ],
};

export default defineConfig({
  plugins: [react(), policy],
  // The client is taken from this repository as it is. Its one dependency comes from here.
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
    // The polyfill for browsers without module preload would need inline code.
    modulePreload: { polyfill: false },
    rolldownOptions: {
      output: {
        // Three parts: the shop, and on demand the account's pages and the administrators' pages.
        codeSplitting: {
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
