import { changePassword, newAccount, newEmail, PASSWORD, requestReset } from './support/accounts.js';
import type { Client } from './support/client.js';
import { withRejectedWrites } from './support/databases.js';
import { makeJobsDue, readJobs } from './support/jobs.js';
import { findCode } from './support/mail.js';
import { orderOf, readOrder, requestOrder } from './support/orders.js';
import { addProduct } from './support/products.js';
import { setUpShop } from './support/shop-settings.js';
import { useShop } from './support/shop.js';
import { type ReceivedMail, useSmtpStandIn } from './support/smtp-stand-in.js';
import { inParallel, until } from './support/wait.js';

const RECEIPT = 'Your receipt';
const REFUSED = 'We cannot make your order';
const READY = 'Your order is ready';

const smtp = await useSmtpStandIn();
const shop = await useShop({ settings: { SMTP_URL: smtp.url } });

/** Returns the order number that mails show. */
const numberOf = (orderId: string): string => orderId.slice(0, 8).toUpperCase();

/** Waits until all order mails are sent, without the delays of retries. Returns the subjects of this order's mails. */
async function waitForSubjects(orderId: string): Promise<string[]> {
  await until('every mail is sent', async () => {
    await makeJobsDue(shop.service.database.pool);
    return (await readJobs(shop.service.database.pool, 'send-order-mail')).length === 0;
  });
  return smtp.mails.filter(({ text }) => text.includes(numberOf(orderId))).map(({ subject }) => subject);
}

/** Waits until a job has rendered a mail and failed to deliver it: its next try renders the mail again. */
async function waitForFailedDelivery(): Promise<void> {
  await until('a delivery has failed', async () =>
    (await readJobs(shop.service.database.pool, 'send-order-mail')).some((job) => job.last_error !== null),
  );
}

function waitForMailAbout(orderId: string, subject: string): Promise<ReceivedMail> {
  return smtp.waitForMail((mail) => mail.subject === subject && mail.text.includes(numberOf(orderId)));
}

/** Orders one piece, or what the fields say. Returns the order id. */
async function orderOnePiece(customer: Client, fields: object = {}): Promise<string> {
  const items = [{ product_id: shop.productId, quantity: 1 }];
  return orderOf(await requestOrder(customer, items, undefined, fields).expect(201)).order_id;
}

/** Settles a payment attempt. The id of the first attempt is the id of the order. */
const pay = (attemptId: string): Promise<void> => shop.setStatusAndNotify(attemptId, 'settlement');

/** Moves an order to another step. Returns the status of the response. */
async function advance(orderId: string, fulfilment: string): Promise<number> {
  return (await shop.setFulfilment(orderId, fulfilment)).status;
}

describe('the receipt', () => {
  it('shows the pickup time in the time zone of the shop, but shows name and note only to a verified address', async () => {
    await setUpShop(shop.admin, { time_zone: 'Asia/Makassar' });
    const tomorrow = new Date(Date.now() + 24 * 3_600_000);
    const time = tomorrow.toLocaleTimeString('en-GB', { timeZone: 'Asia/Makassar', timeStyle: 'short' });
    const { client: customer } = await newAccount(shop.service, 'You won, see evil.example');
    const orderId = await orderOnePiece(customer, { pickup_at: tomorrow.toISOString(), note: 'Tulis' });
    await pay(orderId);
    const { text, html } = await waitForMailAbout(orderId, RECEIPT);
    expect(text).toMatch(new RegExp(`^Pickup: \\w+, \\d+ \\w+ \\d{4}, ${time}\\r?$`, 'm'));
    expect(text).toMatch(/^Hello,\r?\n/);
    expect(html).toContain('<p>Hello,</p>');
    expect(`${text} ${html}`).not.toMatch(/You won|Tulis/);
  });

  it('is sent once even if the payment is captured, settled, denied and settled again, and then another attempt is paid too', async () => {
    const orderId = await shop.orderTwoPieces();
    for (const status of ['capture', 'settlement', 'deny', 'settlement'] as const)
      await shop.setStatusAndNotify(orderId, status, { fraudStatus: status === 'deny' ? 'deny' : 'accept' });
    await pay(await shop.addAttempt(orderId));
    expect(await waitForSubjects(orderId)).toEqual([RECEIPT]);
  });

  const UNPAID = ['pending', 'authorize', 'deny', 'expire', 'cancel'] as const;
  it.each(UNPAID)('is not sent for the status %s', async (status) => {
    const orderId = await shop.orderTwoPieces();
    await shop.setStatusAndNotify(orderId, status);
    expect(await shop.readStatus(orderId)).toBe(status);
    expect(await waitForSubjects(orderId)).toEqual([]);
  });

  it('is not sent if the commit of the payment fails, and is sent once after the gateway retries', async () => {
    const orderId = await shop.orderTwoPieces();
    shop.gateway.settle(orderId);
    // A deferred trigger: every statement of the transaction succeeds, but the commit fails.
    const trigger =
      'CONSTRAINT TRIGGER rejection AFTER INSERT ON payment_notifications DEFERRABLE INITIALLY DEFERRED FOR EACH ROW';
    await withRejectedWrites(shop.service.database, trigger, async () => {
      expect((await shop.sendNotification(orderId)).status).toBe(500);
      expect(await waitForSubjects(orderId)).toEqual([]);
      expect((await readOrder(shop.customer, orderId)).status).toBe('pending');
    });
    await shop.notify(orderId);
    expect(await waitForSubjects(orderId)).toEqual([RECEIPT]);
  });

  it.each(['deny', 'challenge'])(
    'is not sent for a capture with fraud status %s until the gateway accepts the capture',
    async (fraudStatus) => {
      const orderId = await shop.orderTwoPieces();
      await shop.setStatusAndNotify(orderId, 'capture', { paymentType: 'credit_card', fraudStatus });
      const captured = { status: 'capture', completed_at: expect.any(String) as string };
      expect(await readOrder(shop.customer, orderId)).toMatchObject(captured);
      expect(await waitForSubjects(orderId)).toEqual([]);
      await shop.setStatusAndNotify(orderId, 'capture', { fraudStatus: 'accept' });
      expect(await waitForSubjects(orderId)).toEqual([RECEIPT]);
    },
  );

  it("waits for the mail server without delaying the payment, and is sent to the customer's current address", async () => {
    const { client: customer } = await newAccount(shop.service);
    const orderId = await orderOnePiece(customer);
    await smtp.down();
    await pay(orderId);
    await waitForFailedDelivery();
    const email = newEmail();
    await customer.patch('/api/users').send({ email, password: PASSWORD }).expect(200);
    await smtp.up();
    expect(await waitForSubjects(orderId)).toEqual([RECEIPT]);
    expect((await waitForMailAbout(orderId, RECEIPT)).recipients).toEqual([email]);
  });
});

/** Orders and pays, waits for the receipt, and starts preparing. Returns the order's id. */
async function payAndPrepare(): Promise<string> {
  const orderId = await shop.orderTwoPieces();
  await pay(orderId);
  await waitForMailAbout(orderId, RECEIPT);
  expect(await advance(orderId, 'preparing')).toBe(200);
  return orderId;
}

async function readReadyJobs(orderId: string) {
  const jobs = await readJobs(shop.service.database.pool, 'send-order-mail');
  return jobs.filter(({ payload }) => payload.orderId === orderId && payload.mail === 'order-ready');
}

describe('the mail about a ready order', () => {
  it('leaves a minute after the step, once even if parallel requests advance the order', async () => {
    const orderId = await payAndPrepare();
    const statuses = await inParallel(6, () => advance(orderId, 'ready'));
    expect(statuses.sort()).toEqual([200, 409, 409, 409, 409, 409]);
    const [job, ...others] = await readReadyJobs(orderId);
    expect(others).toEqual([]);
    expect(job?.due_in).toBeGreaterThan(30);
    expect(job?.due_in).toBeLessThanOrEqual(60);
  });

  it.each([
    { steps: ['ready', 'preparing'], count: 0 },
    { steps: ['ready', 'refused'], count: 0 },
    { steps: ['ready', 'preparing', 'ready'], count: 1 },
  ])('is sent $count times after the steps $steps within a minute', async ({ steps, count }) => {
    const orderId = await payAndPrepare();
    for (const step of steps) expect(await advance(orderId, step)).toBe(200);
    const subjects = await waitForSubjects(orderId);
    expect(subjects.filter((subject) => subject === READY)).toHaveLength(count);
  });

  it('is not sent again after a step back from collected', async () => {
    const orderId = await payAndPrepare();
    for (const step of ['ready', 'collected']) expect(await advance(orderId, step)).toBe(200);
    expect(await waitForSubjects(orderId)).toEqual([RECEIPT, READY]);
    expect(await advance(orderId, 'ready')).toBe(200);
    expect(await waitForSubjects(orderId)).toEqual([RECEIPT, READY]);
  });
});

describe('the mail about a refused order', () => {
  it('is sent once even if parallel requests refuse the order', async () => {
    const orderId = await shop.orderTwoPieces();
    const statuses = await inParallel(6, () => advance(orderId, 'refused'));
    expect(statuses.sort()).toEqual([200, 409, 409, 409, 409, 409]);
    expect(await waitForSubjects(orderId)).toEqual([REFUSED]);
  });

  it('is sent again instead of a receipt if a payment arrives after the refusal', async () => {
    const orderId = await shop.orderTwoPieces();
    expect(await advance(orderId, 'refused')).toBe(200);
    expect(await waitForSubjects(orderId)).toEqual([REFUSED]);
    await pay(orderId);
    await shop.waitForPaymentChecks();
    expect(await waitForSubjects(orderId)).toEqual([REFUSED, REFUSED]);
    const last = smtp.mails.findLast(({ text }) => text.includes(numberOf(orderId)));
    expect(last?.text).toMatch(/will return Rp\s370\.000 to you/);
  });
});

/** Name with characters that HTML and the templates must escape. */
const CUSTOMER = `Ayu <b>"Co"</b> & {{total}}`;
const PRODUCT = `Kue <img src=x> & 'lapis'`;
/** Contact details of the shop. The WhatsApp number is written as Indonesians write their own numbers. */
const DETAILS = {
  name: 'Toko Roti <Ayu>',
  address: 'Jl. Kemang 12\nJakarta',
  phone: '021 555-123',
  whatsapp: '0812-3456-7890',
  website: 'http://roti.example/?a=1&b=2',
};
const PICKUP = new Date(Date.now() + 48 * 3_600_000);

/** Texts of a mail: the subject, the sentence before and the sentence after the list of items or the code. */
type Texts = readonly [subject: string, intro: string, closing: string];

/** Expected texts in each language, written out so that a mistranslated text of the service fails. */
const TEXTS = {
  id: {
    hello: 'Halo',
    order: 'Pesanan',
    phone: 'Telepon',
    pickup: 'Waktu pengambilan',
    note: 'Catatan Anda',
    codeValidity: 'Kode ini berlaku selama 10 menit dan hanya dapat dipakai satu kali.',
    receipt: [
      'Struk pembayaran Anda',
      'terima kasih, pesanan Anda sudah dibayar.',
      'Kami akan mengabari Anda lagi saat pesanan siap diambil.',
    ],
    receiptOfRefused: 'Kami tidak dapat membuat pesanan ini dan akan mengembalikan pembayaran Anda.',
    ready: ['Pesanan Anda siap diambil', 'pesanan Anda siap diambil.', 'Silakan ambil di toko kami.'],
    refused: [
      'Pesanan Anda ditolak',
      'mohon maaf, kami tidak dapat membuat pesanan Anda.',
      'Kami sudah menerima pembayaran Anda dan akan mengembalikan Rp 205.000 kepada Anda.',
    ],
    refusedAndRefunded: 'Kami sudah mengembalikan Rp 305.000 kepada Anda.',
    refusedUnpaid:
      'Kami belum menerima pembayaran. Jika pembayaran masih masuk, kami akan mengembalikannya kepada Anda.',
    refund: [
      'Pengembalian dana Anda',
      'kami sudah mengembalikan Rp 100.000 dari pembayaran Anda sebesar Rp 305.000.',
      'Tergantung bank Anda, dana dapat masuk setelah beberapa hari.',
    ],
    wholeRefund: 'kami sudah mengembalikan seluruh pembayaran Anda sebesar Rp 305.000.',
    verification: [
      'Kode verifikasi Anda',
      'kode verifikasi untuk alamat email Anda di toko roti kami adalah',
      'Jika Anda tidak memiliki akun di toko roti kami, seseorang salah mengetik alamatnya. Abaikan email ini.',
    ],
    newEmail: [
      'Verifikasi alamat email baru Anda',
      'alamat ini didaftarkan sebagai alamat email baru akun Anda di toko roti kami. Kode verifikasinya adalah',
      'Mulai sekarang Anda masuk dengan alamat ini. Jika Anda tidak memiliki akun di toko roti kami, seseorang salah mengetik alamatnya. Abaikan email ini.',
    ],
    reset: [
      'Kode untuk kata sandi baru',
      'kode untuk membuat kata sandi baru bagi akun Anda di toko roti kami adalah',
      'Jika Anda tidak memintanya, abaikan email ini. Kata sandi Anda tidak berubah. Jangan berikan kode ini kepada siapa pun.',
    ],
    emailChanged: [
      'Alamat email Anda diubah',
      'alamat email akun Anda di toko roti kami sudah diubah. Alamat ini tidak lagi terhubung dengan akun itu.',
      'Jika bukan Anda yang mengubahnya, hubungi kami. Orang lain mungkin mengetahui kata sandi Anda.',
    ],
    passwordChanged: [
      'Kata sandi Anda diubah',
      'kata sandi akun Anda di toko roti kami sudah diubah.',
      'Jika bukan Anda yang mengubahnya, buat kata sandi baru melalui "Lupa kata sandi" di halaman masuk, lalu hubungi kami.',
    ],
  },
  en: {
    hello: 'Hello',
    order: 'Order',
    phone: 'Phone',
    pickup: 'Pickup',
    note: 'Your note',
    codeValidity: 'It is valid for 10 minutes and works once.',
    receipt: [
      RECEIPT,
      'thank you, your order is paid.',
      'We will write to you again when your order is ready.',
    ],
    receiptOfRefused: 'We cannot make this order and will return your payment.',
    ready: [READY, 'your order is ready.', 'You can collect it at the bakery.'],
    refused: [
      REFUSED,
      'we are sorry, we cannot make your order.',
      'We received your payment and will return Rp 205.000 to you.',
    ],
    refusedAndRefunded: 'We have returned Rp 305.000 to you.',
    refusedUnpaid:
      'We have received no payment for it. If a payment still arrives, we will return it to you.',
    refund: [
      'Your refund',
      'we have returned Rp 100.000 of your payment of Rp 305.000.',
      'Depending on your bank, it can take a few days until the money arrives.',
    ],
    wholeRefund: 'we have returned your whole payment of Rp 305.000.',
    verification: [
      'Your verification code',
      'the code that verifies your email address at our bakery is',
      'If you have no account at our bakery, someone mistyped their address: ignore this email.',
    ],
    newEmail: [
      'Verify your new email address',
      'this address was entered as the new email address of your account at our bakery. The code that verifies it is',
      'You log in with this address from now on. If you have no account at our bakery, someone mistyped their address: ignore this email.',
    ],
    reset: [
      'Your password reset code',
      'the code to set a new password for your account at our bakery is',
      'If you did not ask for it, ignore this email: your password stays as it is. Do not give the code to anyone.',
    ],
    emailChanged: [
      'Your email address was changed',
      'the email address of your account at our bakery was changed. This address no longer belongs to it.',
      'If you did not change it, contact us: somebody else may know your password.',
    ],
    passwordChanged: [
      'Your password was changed',
      'the password of your account at our bakery was changed.',
      'If you did not change it, set a new password with the link "Forgot password" on the sign-in page, and contact us.',
    ],
  },
} as const;

const ENTITIES: Readonly<Record<string, string>> = {
  ...{ lt: '<', gt: '>', amp: '&', quot: '"' },
  ...{ '#x27': "'", '#x3D': '=' },
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

describe.each([
  ['id', 'id', 'en'],
  ['en', 'en', 'id'],
  ['id', null, 'id'],
] as const)(
  'mails are in the language %s for a customer with the language %s in a shop with the language %s',
  (expected, language, shopLanguage) => {
    const t = TEXTS[expected];
    let customer: Client;
    let email: string;
    let items: object[];

    beforeAll(async () => {
      await setUpShop(shop.admin, { ...DETAILS, language: shopLanguage });
      ({ client: customer, email } = await newCustomer());
      await shop.service.verifyEmail(email);
      const product_id = await addProduct(shop.service, 60_000, PRODUCT);
      items = [
        { product_id, quantity: 2 },
        { product_id: shop.productId, quantity: 1 },
      ];
    });

    async function newCustomer() {
      const account = { client: shop.service.client(), email: newEmail() };
      const registration = { email: account.email, fullname: CUSTOMER, password: PASSWORD };
      const request = account.client.register(registration).set('Accept-Language', language ?? '*');
      await request.expect(201);
      return account;
    }

    function find([subject]: Texts, word = '', recipient = email): Promise<ReceivedMail> {
      return smtp.waitForMail(
        (mail) => mail.subject === subject && mail.recipients.includes(recipient) && mail.text.includes(word),
      );
    }

    /** Compares the words of both parts of a mail with the expected lines between greeting and address. */
    function expectMail(
      { text, html }: ReceivedMail,
      lines: readonly string[],
      { greeting = `${t.hello} ${CUSTOMER},`, chat = '' } = {},
    ): void {
      const { name, address, phone, website } = DETAILS;
      const whatsapp = `WhatsApp: https://wa.me/6281234567890${chat}`;
      const all = [greeting, ...lines, name, address, `${t.phone}: ${phone}`, whatsapp, website];
      const words = readWords(all.join(' '));
      expect([readWords(text), readHtml(html)]).toEqual([words, words]);
    }

    function expectOrderMail(
      mail: ReceivedMail,
      orderId: string,
      [, intro, closing]: Texts,
      wishes: string[] = [],
    ): void {
      const number = numberOf(orderId);
      const items = [`2 × ${PRODUCT}: Rp 120.000`, '1 × Kue lapis: Rp 185.000'];
      const summary = [...items, 'Total: Rp 305.000', `${t.order}: ${number}`, ...wishes];
      const chat = `?text=${encodeURIComponent(`${t.order} #${number}`)}`;
      expectMail(mail, [intro, ...summary, closing], { chat });
    }

    /** Expects a mail with a code, or a notice, to an account. Returns the mail. */
    async function expectAccountMail(texts: Texts, recipient: string, greeting?: string) {
      const [, intro, note] = texts;
      const mail = await find(texts, '', recipient);
      const isNotice = texts === t.emailChanged || texts === t.passwordChanged;
      const code = isNotice ? [] : [findCode(mail.text), t.codeValidity];
      expectMail(mail, [intro, ...code, note], greeting === undefined ? {} : { greeting });
      return mail;
    }

    async function refund(orderId: string, body: object): Promise<void> {
      expect((await shop.requestRefund(orderId, body)).status).toBe(200);
    }

    it('the receipt, and the mails about a ready, a partly refunded and a refused order, name the shop and the wishes', async () => {
      const format = (options: Intl.DateTimeFormatOptions, locale: string = expected) =>
        PICKUP.toLocaleString(locale, { timeZone: 'Asia/Jakarta', ...options });
      const date = `${format({ day: 'numeric' })} ${format({ month: 'long', year: 'numeric' })}`;
      const time = format({ timeStyle: 'short' }, 'en-GB');
      const wishes = [
        `${t.pickup}: ${format({ weekday: 'long' })}, ${date}, ${time}`,
        `${t.note}: Tanpa <b>kacang</b>`,
      ];

      const fields = { items, pickup_at: PICKUP.toISOString(), note: 'Tanpa <b>kacang</b>' };
      const orderId = await orderOnePiece(customer, fields);
      await pay(orderId);
      await find(t.receipt);
      for (const step of ['preparing', 'ready']) expect(await advance(orderId, step)).toBe(200);
      await makeJobsDue(shop.service.database.pool);
      await find(t.ready);
      await refund(orderId, { amount: 100_000, manual: true });
      expect(await advance(orderId, 'refused')).toBe(200);
      for (const texts of [t.receipt, t.ready, t.refund, t.refused])
        expectOrderMail(await find(texts), orderId, texts, wishes);
    });

    it('the mail about a whole refund says so', async () => {
      const orderId = await orderOnePiece(customer, { items });
      await shop.setStatusAndNotify(orderId, 'settlement', { paymentType: 'gopay' });
      await refund(orderId, {});
      const [subject, , closing] = t.refund;
      const texts = [subject, t.wholeRefund, closing] as const;
      expectOrderMail(await find(texts, numberOf(orderId)), orderId, texts);
    });

    it('the receipt and the mail about the refusal describe an order that was refused, and one that was refunded too, before they are sent', async () => {
      await smtp.down();
      const unrefunded = await orderOnePiece(customer, { items });
      const refunded = await orderOnePiece(customer, { items });
      for (const orderId of [unrefunded, refunded]) await pay(orderId);
      await waitForFailedDelivery();
      for (const orderId of [unrefunded, refunded]) expect(await advance(orderId, 'refused')).toBe(200);
      await refund(refunded, { manual: true });
      await smtp.up();
      await makeJobsDue(shop.service.database.pool);
      for (const [orderId, [subject, intro], closing] of [
        [unrefunded, t.receipt, t.receiptOfRefused],
        [refunded, t.receipt, t.receiptOfRefused],
        [refunded, t.refused, t.refusedAndRefunded],
      ] as const) {
        const texts = [subject, intro, closing] as const;
        expectOrderMail(await find(texts, numberOf(orderId)), orderId, texts);
      }
    });

    it('the mail about a refused order without a payment says so', async () => {
      const orderId = await orderOnePiece(customer, { items });
      expect(await advance(orderId, 'refused')).toBe(200);
      const [subject, intro] = t.refused;
      const texts = [subject, intro, t.refusedUnpaid] as const;
      expectOrderMail(await find(texts, numberOf(orderId)), orderId, texts);
    });

    it('the mail with a reset code contains the code', async () => {
      await requestReset(shop.service, email).expect(204);
      await expectAccountMail(t.reset, email);
    });

    it('the mails that verify an address, and those about a changed address and password, contain no name', async () => {
      const { client, email: first } = await newCustomer();
      const verify = async (texts: Texts, recipient: string) => {
        const { text } = await expectAccountMail(texts, recipient, `${t.hello},`);
        await client
          .post('/api/otp/verify')
          .send({ otp: findCode(text) })
          .expect(200);
      };
      await verify(t.verification, first);
      const second = newEmail();
      await client.patch('/api/users').send({ email: second, password: PASSWORD }).expect(200);
      await expectAccountMail(t.emailChanged, first, `${t.hello},`);
      await verify(t.newEmail, second);
      await changePassword(client).expect(204);
      await expectAccountMail(t.passwordChanged, second, `${t.hello},`);
    });
  },
);
