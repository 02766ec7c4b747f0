/** The database that this process uses; also the injection token under which modules receive it. */
export class Database {
  constructor(
    readonly url: string,
    /** An embedded one: this process supervises it and no other uses it. */
    readonly isExclusive: boolean,
  ) {}
}
