declare module 'class-transformer/cjs/storage.js' {
  import type { ClassConstructor } from 'class-transformer';

  /** Registry of the package's decorators. No exported function reads it. */
  export const defaultMetadataStorage: {
    findTypeMetadata(
      target: ClassConstructor<object>,
      property: string,
    ): { typeFunction(): ClassConstructor<object> } | undefined;
  };
}
