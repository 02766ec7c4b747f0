/** Amount of data that a backup or a restore wrote. */
export interface Summary {
  tables: number;
  rows: number;
  images: number;
  /** Size of the backup file. */
  bytes: number;
}

export function describeSummary({ tables, rows, images, bytes }: Summary): string {
  return `${tables} tables, ${rows} rows, ${images} images, ${bytes} bytes (${(bytes / 1_000_000).toFixed(1)} MB)`;
}
