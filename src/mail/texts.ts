import type { Language } from '../common/languages.js';

const EN = {
  greeting: (name: string) => (name === '' ? 'Hello,' : `Hello ${name},`),
  codeValidity: (minutes: number) => `It is valid for ${minutes} minutes and works once.`,
  codes: {
    verify_email: {
      subject: 'Your verification code',
      intro: 'The code that verifies your email address at our bakery is',
      note: 'If you have no account at our bakery, someone mistyped their address: ignore this email.',
    },
    new_email: {
      subject: 'Verify your new email address',
      intro:
        'This address was entered as the new email address of your account at our bakery. The code that verifies it is',
      note:
        'You log in with this address from now on. If you have no account at our bakery, someone mistyped their address: ' +
        'ignore this email.',
    },
    reset_password: {
      subject: 'Your password reset code',
      intro: 'The code to set a new password for your account at our bakery is',
      note: 'If you did not ask for it, ignore this email: your password stays as it is. Do not give the code to anyone.',
    },
  },
  notices: {
    email_changed: {
      subject: 'Your email address was changed',
      intro:
        'The email address of your account at our bakery was changed. This address no longer belongs to it.',
      note: 'If you did not change it, contact us: somebody else may know your password.',
    },
    password_changed: {
      subject: 'Your password was changed',
      intro: 'The password of your account at our bakery was changed.',
      note: 'If you did not change it, set a new password with the link "Forgot password" on the sign-in page, and contact us.',
    },
  },
  /** `intro` precedes the list of items, and `closing` follows it. `OrderMailsService` builds a text that is empty here. */
  orders: {
    'order-receipt': {
      subject: 'Your receipt',
      intro: 'Thank you, your order is paid.',
      closing: 'We will write to you again when your order is ready.',
    },
    'order-ready': {
      subject: 'Your order is ready',
      intro: 'Your order is ready.',
      closing: 'You can collect it at the bakery.',
    },
    'order-refused': {
      subject: 'We cannot make your order',
      intro: 'We are sorry, we cannot make your order.',
      closing: '',
    },
    'order-refunded': {
      subject: 'Your refund',
      intro: '',
      closing: 'Depending on your bank, it can take a few days until the money arrives.',
    },
  },
  labels: { total: 'Total', order: 'Order', pickup: 'Pickup', note: 'Your note' },
  phone: 'Phone',
  closingIfRefused: 'We cannot make this order and will return your payment.',
  willReturn: (amount: string) => `We received your payment and will return ${amount} to you.`,
  haveReturned: (amount: string) => `We have returned ${amount} to you.`,
  notPaid:
    'We have received no payment for this order. If a payment still arrives, we will return it to you.',
  refundedInFull: (amount: string) => `We have returned your whole payment of ${amount}.`,
  refundedSurplus: (amount: string) => `We have returned ${amount}, which you had paid twice.`,
  refundedInPart: (amount: string, total: string) =>
    `We have returned ${amount} of your payment of ${total}.`,
};

/** Texts of all mails in one language. */
export type MailTexts = typeof EN;

const ID: MailTexts = {
  greeting: (name) => (name === '' ? 'Halo,' : `Halo ${name},`),
  codeValidity: (minutes) => `Kode ini berlaku selama ${minutes} menit dan hanya dapat dipakai satu kali.`,
  codes: {
    verify_email: {
      subject: 'Kode verifikasi Anda',
      intro: 'Kode verifikasi untuk alamat email Anda di toko roti kami adalah',
      note: 'Jika Anda tidak memiliki akun di toko roti kami, seseorang salah mengetik alamatnya. Abaikan email ini.',
    },
    new_email: {
      subject: 'Verifikasi alamat email baru Anda',
      intro:
        'Alamat ini didaftarkan sebagai alamat email baru akun Anda di toko roti kami. Kode verifikasinya adalah',
      note:
        'Mulai sekarang Anda masuk dengan alamat ini. Jika Anda tidak memiliki akun di toko roti kami, seseorang salah ' +
        'mengetik alamatnya. Abaikan email ini.',
    },
    reset_password: {
      subject: 'Kode untuk kata sandi baru',
      intro: 'Kode untuk membuat kata sandi baru bagi akun Anda di toko roti kami adalah',
      note: 'Jika Anda tidak memintanya, abaikan email ini. Kata sandi Anda tidak berubah. Jangan berikan kode ini kepada siapa pun.',
    },
  },
  notices: {
    email_changed: {
      subject: 'Alamat email Anda diubah',
      intro:
        'Alamat email akun Anda di toko roti kami sudah diubah. Alamat ini tidak lagi terhubung dengan akun itu.',
      note: 'Jika bukan Anda yang mengubahnya, hubungi kami. Orang lain mungkin mengetahui kata sandi Anda.',
    },
    password_changed: {
      subject: 'Kata sandi Anda diubah',
      intro: 'Kata sandi akun Anda di toko roti kami sudah diubah.',
      note: 'Jika bukan Anda yang mengubahnya, buat kata sandi baru melalui "Lupa kata sandi" di halaman masuk, lalu hubungi kami.',
    },
  },
  orders: {
    'order-receipt': {
      subject: 'Struk pembayaran Anda',
      intro: 'Terima kasih, pesanan Anda sudah dibayar.',
      closing: 'Kami akan mengabari Anda lagi saat pesanan siap diambil.',
    },
    'order-ready': {
      subject: 'Pesanan Anda siap diambil',
      intro: 'Pesanan Anda siap diambil.',
      closing: 'Silakan ambil di toko kami.',
    },
    'order-refused': {
      subject: 'Pesanan Anda ditolak',
      intro: 'Mohon maaf, kami tidak dapat membuat pesanan Anda.',
      closing: '',
    },
    'order-refunded': {
      subject: 'Pengembalian dana Anda',
      intro: '',
      closing: 'Tergantung bank Anda, dana dapat masuk setelah beberapa hari.',
    },
  },
  labels: { total: 'Total', order: 'Pesanan', pickup: 'Waktu pengambilan', note: 'Catatan Anda' },
  phone: 'Telepon',
  closingIfRefused: 'Kami tidak dapat membuat pesanan ini dan akan mengembalikan pembayaran Anda.',
  willReturn: (amount) => `Kami sudah menerima pembayaran Anda dan akan mengembalikan ${amount} kepada Anda.`,
  haveReturned: (amount) => `Kami sudah mengembalikan ${amount} kepada Anda.`,
  notPaid:
    'Kami belum menerima pembayaran untuk pesanan ini. Jika pembayaran masih masuk, kami akan mengembalikannya kepada Anda.',
  refundedInFull: (amount) => `Kami sudah mengembalikan seluruh pembayaran Anda sebesar ${amount}.`,
  refundedSurplus: (amount) => `Kami sudah mengembalikan ${amount} yang terbayar dua kali.`,
  refundedInPart: (amount, total) =>
    `Kami sudah mengembalikan ${amount} dari pembayaran Anda sebesar ${total}.`,
};

export const MAIL_TEXTS: Readonly<Record<Language, MailTexts>> = { id: ID, en: EN };
