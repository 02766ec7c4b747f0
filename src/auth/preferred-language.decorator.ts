import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { type Language, LANGUAGES } from '../common/languages.js';

/** Injects the language that `Accept-Language` prefers among those of mails; null if the header names none of them. */
export const PreferredLanguage = createParamDecorator((_: undefined, context: ExecutionContext) =>
  findLanguage(context.switchToHttp().getRequest<Request>().acceptsLanguages()),
);

/** @param tags language tags such as `id-ID`, the preferred one first, and `*` for any language */
function findLanguage(tags: readonly string[]): Language | null {
  for (const tag of tags) {
    const name = tag.split('-')[0]?.toLowerCase();
    const language = LANGUAGES.find((supported) => supported === name);
    if (language !== undefined) return language;
  }
  return null;
}
