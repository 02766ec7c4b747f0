interface ImportMetaEnv {
  /** Address of the service, without `/api`; `http://localhost:3000` if not given. */
  readonly VITE_API_URL?: string;
}

interface ImportMeta {
  readonly env: ImportMetaEnv;
}
