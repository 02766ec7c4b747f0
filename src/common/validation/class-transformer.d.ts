declare module 'class-transformer/cjs/storage.js' {
  type Dto = import('class-transformer').ClassConstructor<object>;

  /** Registry of decorators such as `@Type`. The package's public functions cannot read it. */
  export const defaultMetadataStorage: {
    findTypeMetadata(dto: Dto, property: string): { typeFunction(): Dto } | undefined;
  };
}
