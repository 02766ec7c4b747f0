import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { MailerService } from '@nestjs-modules/mailer';
import { Injectable } from '@nestjs/common';
import Handlebars from 'handlebars';
import type { Language } from '../common/languages.js';
import { mails } from '../jobs/jobs.metrics.js';
import { ShopService } from '../shop/shop.service.js';
import { toDeliveryError } from './delivery-error.js';
import { MAIL_TEXTS } from './texts.js';

interface Recipient {
  readonly email: string;
  readonly fullname?: string;
  readonly emailVerifiedAt?: Date | null;
}

type Texts = Awaited<ReturnType<MailService['loadTexts']>>;

/** Mail to one account. `send` adds the values that every template needs to the context. */
interface Mail {
  readonly to: Recipient;
  readonly texts: Texts;
  readonly subject: string;
  readonly template: keyof typeof TEMPLATES;
  readonly context: object;
  /** Text with which the customer starts a chat with the shop, for example the order number. */
  readonly chatText?: string;
}

// The mailer's own adapter renders only HTML, and each mail also has a text part.
const handlebars = Handlebars.create();
handlebars.registerPartial('layout', readTemplate('layout.html'));
handlebars.registerPartial('shop', readTemplate('shop.txt'));

/** `account`: a code or a notice. `order`: what was ordered, between two sentences. */
const TEMPLATES = { account: compileParts('account'), order: compileParts('order') };

@Injectable()
export class MailService {
  constructor(
    private readonly mailer: MailerService,
    private readonly shop: ShopService,
  ) {}

  /** Returns the texts of mails to a user, and the shop. A user who has chosen no language gets the shop's. */
  async loadTexts(user: { readonly language: Language | null }) {
    const shop = await this.shop.get();
    const language = user.language ?? shop.language;
    return { ...MAIL_TEXTS[language], language, shop };
  }

  /** @throws PermanentJobError for an unknown recipient, otherwise Error; the mail may have been delivered nevertheless */
  async send({ to, texts, subject, template, context, chatText = '' }: Mail): Promise<void> {
    const { shop } = texts;
    // No name until the address is verified, because anybody can register a stranger's address with any name.
    const name = hasVerifiedAddress(to) ? (to.fullname ?? '') : '';
    const values = {
      ...context,
      greeting: texts.greeting(name),
      language: texts.language,
      phoneLabel: texts.phone,
      shop,
      whatsappUrl: buildWhatsappUrl(shop.whatsapp, chatText),
    };
    try {
      await this.mailer.sendMail({
        // As an object, because nodemailer would parse a string as a list of addresses.
        to: { name: '', address: to.email },
        subject,
        html: TEMPLATES[template].html(values),
        text: TEMPLATES[template].text(values),
      });
    } catch (error) {
      throw toDeliveryError(error);
    }
    mails.inc({ outcome: 'sent' });
  }
}

/**
 * Returns true if the address is verified. Not a comparison with null: an account that was loaded without this column must not
 * count as verified.
 */
export function hasVerifiedAddress({ emailVerifiedAt }: Pick<Recipient, 'emailVerifiedAt'>): boolean {
  return emailVerifiedAt instanceof Date;
}

/** Builds the link that opens a chat. WhatsApp needs the country code: 0812 becomes 62812. */
function buildWhatsappUrl(number: string | null, text: string): string {
  if (number === null) return '';
  const digits = number.replaceAll(/\D/g, '').replace(/^0/, '62');
  return `https://wa.me/${digits}${text === '' ? '' : `?text=${encodeURIComponent(text)}`}`;
}

function compileParts(name: string) {
  return {
    html: handlebars.compile(readTemplate(`${name}.html`), { strict: true }),
    text: handlebars.compile(readTemplate(`${name}.txt`), { strict: true, noEscape: true }),
  };
}

function readTemplate(name: string): string {
  return readFileSync(join(import.meta.dirname, 'templates', `${name}.hbs`), 'utf8');
}
