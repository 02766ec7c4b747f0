/** Folders in which the operating system looks for programs. */
export const SEARCH_PATH = process.env.PATH ?? '';
