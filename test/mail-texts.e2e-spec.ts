import { MAIL_TEXTS, type MailTexts } from '../src/mail/texts.js';
import { requestPasswordChange, createEmail, PASSWORD, requestResetCode } from './support/accounts.js';
import type { Client } from './support/client.js';
import { makeJobsDue, waitForFailedJob } from './support/jobs.js';
import { findCode } from './support/mail.js';
import { expectOrder, orderOf, requestOrder } from './support/orders.js';
import { insertProduct } from './support/products.js';
import { setUpShop } from './support/shop-settings.js';
import { useShop } from './support/shop.js';
import { type ReceivedMail, SmtpStandIn } from './support/smtp-stand-in.js';

/** Name with characters that HTML and the templates must escape. */
const CUSTOMER = `Ayu <b>"Co"</b> & {{total}}`;
const PRODUCT = `Kue <img src=x> & 'lapis'`;
/** Contact details of the shop. The WhatsApp number is written as Indonesians write their own numbers. */
const DETAILS = {
  name: 'Toko Roti <Ayu>',
  address: 'Jl. Kemang 12\nJakarta',
  phone: '021 555-123',
  whatsapp: '0062 (0)812-3456-7890',
  website: 'http://roti.example/?a=1&b=2',
};
const PICKUP = new Date(Date.now() + 48 * 3_600_000);

type OrderTexts = MailTexts['orders']['order-receipt'];
type AccountTexts = MailTexts['codes']['verify_email'];

const smtp = await SmtpStandIn.start();
const shop = await useShop({ settings: { SMTP_URL: smtp.url } });

const ENTITIES: Readonly<Record<string, string>> = {
  lt: '<',
  gt: '>',
  amp: '&',
  quot: '"',
  '#x27': "'",
  '#x3D': '=',
};

/** Returns the words of the HTML of a mail. */
function readHtml(html: string): string {
  const text = html
    .replaceAll(/<a href="([^"]*)">WhatsApp<\/a>/g, 'WhatsApp: $1')
    .replaceAll(/<\/?[a-z!][^>]*>/g, ' ')
    .replaceAll(/&(\w+|#x\w+);/g, (entity, name: string) => ENTITIES[name] ?? entity);
  return readWords(text);
}

/** Returns the words of a text without line breaks, and without the colons that HTML shows as columns. */
function readWords(text: string): string {
  return text.replaceAll(/^-- $/gm, '').replaceAll(/:?\s+/g, ' ').trim();
}

async function setFulfilment(orderId: string, ...steps: string[]): Promise<void> {
  for (const step of steps) expectOrder(await shop.setFulfilment(orderId, step));
}

async function refund(orderId: string, body: object): Promise<void> {
  expectOrder(await shop.requestRefund(orderId, body));
}

it('subjects and sentences of mails differ between the languages, and texts about money name the amounts', () => {
  const listAmounts = (texts: MailTexts): string[] => {
    const { willReturn, haveReturned, refundedInFull, refundedSurplus } = texts;
    return [willReturn, haveReturned, refundedInFull, refundedSurplus].map((toText) => toText('X1'));
  };
  const list = (texts: MailTexts): string[] => {
    const parts = Object.values({ ...texts.codes, ...texts.notices, ...texts.orders });
    const others = [texts.greeting('X1'), texts.codeValidity(10), texts.closingIfRefused, texts.notPaid];
    const amounts = [texts.refundedInPart('X1', 'X2'), ...listAmounts(texts)];
    const all = [...parts.flatMap((part): string[] => Object.values(part)), ...others, ...amounts];
    return all.filter((text) => text !== '');
  };
  expect(list(MAIL_TEXTS.id).filter((text) => list(MAIL_TEXTS.en).includes(text))).toEqual([]);
  for (const texts of Object.values(MAIL_TEXTS)) {
    expect(texts.refundedInPart('X1', 'X2')).toMatch(/X1.*X2/);
    for (const text of listAmounts(texts)) expect(text).toContain('X1');
  }
});

it('the text after the greeting begins with a capital letter', () => {
  for (const texts of Object.values(MAIL_TEXTS)) {
    const { refundedInFull, refundedSurplus, refundedInPart } = texts;
    const intros = Object.values({ ...texts.codes, ...texts.notices, ...texts.orders }).map(
      ({ intro }) => intro,
    );
    const refunds = [refundedInFull('X1'), refundedSurplus('X1'), refundedInPart('X1', 'X2')];
    for (const text of [...intros, ...refunds].filter((each) => each !== '')) expect(text).toMatch(/^[A-Z]/);
  }
});

/** The subject of the receipt is written out, so that a text in the wrong language fails. */
describe.each([
  ['id', 'with the language id', 'en', 'id', 'Struk pembayaran Anda'],
  ['en', 'with the language en', 'id', 'en', 'Your receipt'],
  ['id', 'without a language', 'id', null, 'Struk pembayaran Anda'],
] as const)(
  'mails are in the language %s for a customer %s in a shop with the language %s',
  (expected, _, shopLanguage, language, receiptSubject) => {
    const t = MAIL_TEXTS[expected];
    const receipt = { ...t.orders['order-receipt'], subject: receiptSubject };
    const { 'order-ready': ready, 'order-refused': refused, 'order-refunded': refunded } = t.orders;
    let customer: Client;
    let email: string;
    let items: object[];

    beforeAll(async () => {
      await setUpShop(shop.admin, { ...DETAILS, language: shopLanguage });
      ({ client: customer, email } = await newCustomer());
      await shop.service.verifyEmail(email);
      const product_id = await insertProduct(shop.service, 60_000, PRODUCT);
      items = [
        { product_id, quantity: 2 },
        { product_id: shop.productId, quantity: 1 },
      ];
    });

    async function newCustomer() {
      const account = { client: shop.service.client(), email: createEmail() };
      const registration = { email: account.email, fullname: CUSTOMER, password: PASSWORD };
      const request = account.client.register(registration).set('Accept-Language', language ?? '*');
      await request.expect(201);
      return account;
    }

    async function placeOrder(fields: object = {}): Promise<string> {
      return orderOf(await requestOrder(customer, items, undefined, fields).expect(201)).order_id;
    }

    /** Waits for a mail with this subject and this word in its text. */
    function waitForMail(recipient: string, subject: string, word = ''): Promise<ReceivedMail> {
      return smtp.waitForMail(
        (mail) => mail.subject === subject && mail.recipients.includes(recipient) && mail.text.includes(word),
      );
    }

    /** Compares the words of both parts of a mail with the expected lines between greeting and address. */
    function expectContent(
      { text, html }: ReceivedMail,
      name: string,
      lines: readonly string[],
      chatQuery = '',
    ): void {
      const { address, phone, website } = DETAILS;
      const whatsapp = `WhatsApp: https://wa.me/6281234567890${chatQuery}`;
      const contact = [DETAILS.name, address, `${t.phone}: ${phone}`, whatsapp, website];
      const words = readWords([t.greeting(name), ...lines, ...contact].join(' '));
      expect([readWords(text), readHtml(html)]).toEqual([words, words]);
    }

    /** Waits for a mail about an order, which lists the items between two sentences. */
    async function expectOrderMail(
      orderId: string,
      { subject, intro, closing }: OrderTexts,
      wishes: readonly string[] = [],
    ): Promise<void> {
      const number = orderId.slice(0, 8).toUpperCase();
      const lines = [`2 × ${PRODUCT}: Rp 120.000`, '1 × Kue lapis: Rp 185.000', 'Total: Rp 305.000'];
      const summary = [...lines, `${t.labels.order}: ${number}`, ...wishes];
      const chatQuery = `?text=${encodeURIComponent(`${t.labels.order} #${number}`)}`;
      const mail = await waitForMail(email, subject, number);
      expectContent(mail, CUSTOMER, [intro, ...summary, closing], chatQuery);
    }

    /** Waits for a mail with a code. Returns the code. */
    async function expectCode(
      recipient: string,
      { subject, intro, note }: AccountTexts,
      name = '',
    ): Promise<string> {
      const mail = await waitForMail(recipient, subject);
      const code = findCode(mail.text);
      expectContent(mail, name, [intro, code, t.codeValidity(10), note]);
      return code;
    }

    async function expectNotice(recipient: string, { subject, intro, note }: AccountTexts): Promise<void> {
      expectContent(await waitForMail(recipient, subject), '', [intro, note]);
    }

    it('the receipt, and the mails about a ready, a partly refunded and a refused order, name the shop and the wishes', async () => {
      const format = (options: Intl.DateTimeFormatOptions, locale: string = expected) =>
        PICKUP.toLocaleString(locale, { timeZone: 'Asia/Jakarta', ...options });
      const date = `${format({ day: 'numeric' })} ${format({ month: 'long', year: 'numeric' })}`;
      const clock = format({ timeStyle: 'short' }, expected === 'id' ? 'id' : 'en-GB');
      const when = expected === 'id' ? ` pukul ${clock}` : `, ${clock}`;
      const wishes = [
        `${t.labels.pickup}: ${format({ weekday: 'long' })}, ${date}${when}`,
        `${t.labels.note}: Tanpa <b>kacang</b>`,
      ];

      const orderId = await placeOrder({ pickup_at: PICKUP.toISOString(), note: 'Tanpa <b>kacang</b>' });
      await shop.setStatusAndNotify(orderId, 'settlement');
      await expectOrderMail(orderId, receipt, wishes);
      await setFulfilment(orderId, 'preparing', 'ready');
      await makeJobsDue(shop.service.database.pool);
      await expectOrderMail(orderId, ready, wishes);
      await refund(orderId, { amount: 100_000, manual: true });
      const part = { ...refunded, intro: t.refundedInPart('Rp 100.000', 'Rp 305.000') };
      await expectOrderMail(orderId, part, wishes);
      await setFulfilment(orderId, 'refused');
      await expectOrderMail(orderId, { ...refused, closing: t.willReturn('Rp 205.000') }, wishes);
    });

    it('the mail about a whole refund says so', async () => {
      const orderId = await placeOrder();
      await shop.setStatusAndNotify(orderId, 'settlement', { paymentType: 'gopay' });
      await refund(orderId, {});
      await expectOrderMail(orderId, { ...refunded, intro: t.refundedInFull('Rp 305.000') });
    });

    it('a late receipt says that the order was refused, and a late mail about a refusal says that the money was returned', async () => {
      await smtp.down();
      const orderIds = [await placeOrder(), await placeOrder()];
      const [, refundedId = ''] = orderIds;
      for (const orderId of orderIds) await shop.setStatusAndNotify(orderId, 'settlement');
      await waitForFailedJob(shop.service.database.pool, 'send-order-mail');
      for (const orderId of orderIds) await setFulfilment(orderId, 'refused');
      await refund(refundedId, { manual: true });
      await smtp.up();
      await makeJobsDue(shop.service.database.pool);
      for (const orderId of orderIds)
        await expectOrderMail(orderId, { ...receipt, closing: t.closingIfRefused });
      await expectOrderMail(refundedId, { ...refused, closing: t.haveReturned('Rp 305.000') });
    });

    it('the mail about a refused order without a payment says so', async () => {
      const orderId = await placeOrder();
      await setFulfilment(orderId, 'refused');
      await expectOrderMail(orderId, { ...refused, closing: t.notPaid });
    });

    it('the mail with a reset code contains the code', async () => {
      await requestResetCode(shop.service, email).expect(204);
      await expectCode(email, t.codes.reset_password, CUSTOMER);
    });

    it('the mails that verify an address, and those about a changed address and password, contain no name', async () => {
      const { client, email: first } = await newCustomer();
      const verify = (otp: string) => client.post('/api/otp/verify').send({ otp }).expect(200);
      await verify(await expectCode(first, t.codes.verify_email));
      const second = createEmail();
      await client.patch('/api/users').send({ email: second, password: PASSWORD }).expect(200);
      await expectNotice(first, t.notices.email_changed);
      await verify(await expectCode(second, t.codes.new_email));
      await requestPasswordChange(client).expect(204);
      await expectNotice(second, t.notices.password_changed);
    });
  },
);
