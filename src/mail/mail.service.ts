import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { MailerService } from '@nestjs-modules/mailer';
import { Injectable } from '@nestjs/common';
import Handlebars from 'handlebars';
import type { Language } from '../common/languages.js';
import { mails } from '../jobs/jobs.metrics.js';
import type { Shop } from '../shop/shop.entity.js';
import { ShopService } from '../shop/shop.service.js';
import { toDeliveryError } from './delivery-error.js';
import { MAIL_TEXTS, type MailTexts } from './texts.js';

interface Recipient {
  readonly email: string;
  /** Null means the language of the shop. */
  readonly language: Language | null;
  readonly fullname?: string;
  readonly emailVerifiedAt?: Date | null;
}

/** Values for a template. `send` adds the values that every template needs. */
interface MailContent {
  readonly subject: string;
  /** Text with which the customer starts a chat with the shop, for example the order number. */
  readonly chatText?: string;
  readonly [name: string]: unknown;
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

  /**
   * Sends a mail to one account.
   * @throws PermanentJobError for an unknown recipient, otherwise Error; the mail may have been delivered nevertheless
   */
  async send(
    to: Recipient,
    template: keyof typeof TEMPLATES,
    buildContent: (texts: MailTexts, shop: Readonly<Shop>, language: Language) => MailContent,
  ): Promise<void> {
    const shop = await this.shop.get();
    const language = to.language ?? shop.language;
    const texts = MAIL_TEXTS[language];
    const { subject, chatText = '', ...content } = buildContent(texts, shop, language);
    // No name until the address is verified, because anybody can register a stranger's address with any name.
    const name = hasVerifiedAddress(to) ? (to.fullname ?? '') : '';
    const values = {
      ...content,
      greeting: texts.greeting(name),
      language,
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

/** Builds the link that opens a chat. WhatsApp needs the country code: 0812 becomes 62812, also in `+62 (0)812` and `0062 812`. */
function buildWhatsappUrl(number: string | null, text: string): string {
  if (number === null) return '';
  const digits = number
    .replaceAll(/\D/g, '')
    .replace(/^00/, '')
    .replace(/^(620|0)/, '62');
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
