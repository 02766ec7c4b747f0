import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { LANGUAGES } from '../common/languages.js';

/** Injects the language that `Accept-Language` prefers among those of mails; null if the header names none of them. */
export const PreferredLanguage = createParamDecorator((_: undefined, context: ExecutionContext) => {
  // Tags such as `id-ID`, the preferred one first, and `*` for any language.
  const tags = context.switchToHttp().getRequest<Request>().acceptsLanguages();
  const names = tags.map((tag) => tag.split('-')[0]?.toLowerCase());
  return names.map((name) => LANGUAGES.find((language) => language === name)).find(Boolean) ?? null;
});
