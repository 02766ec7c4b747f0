export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Prints progress or a warning on the standard error, so that the standard output contains only the result. */
export function printStatus(line: string): void {
  process.stderr.write(`${line}\n`);
}
