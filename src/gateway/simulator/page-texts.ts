import type { Language } from '../../common/languages.js';

const EN = {
  title: 'Payment simulator',
  noRealMoney: 'Payment simulator: no real money.',
  backToShop: 'Back to the shop',
  notPaid: 'Not paid yet',
  /** The amount follows. */
  refunded: 'refunded',
  /** The payment type and the status of the transaction follow. */
  earlier: 'Earlier transaction',
  notifications: 'Notifications sent to the shop',
  noResponse: 'no response yet',
  /** The id follows. */
  order: 'Order',
  /** The time follows. */
  pageEnds: 'The page ends at',
  /** Labels of the buttons, by action. */
  actions: {
    card: 'Pay by card',
    'card-authorize': 'Reserve on a card',
    gopay: 'Pay with GoPay',
    qris: 'Pay with QRIS',
    'bank-transfer': 'Pay by bank transfer',
    'convenience-store': 'Pay at a convenience store',
    settle: 'Settle the payment',
    capture: 'Capture the reserved amount',
    refund: 'Refund everything',
    'partial-refund': 'Refund half',
    cancel: 'Cancel the payment',
    expire: 'Let the payment expire',
    deny: 'Deny the payment',
    fail: 'Let the payment fail',
    'send-again': 'Send the last notification again',
    'send-late-pending': 'Send a late pending',
    'send-bad-signature': 'Send a bad signature',
  },
};

export type PageTexts = typeof EN;

const ID: PageTexts = {
  title: 'Simulator pembayaran',
  noRealMoney: 'Simulator pembayaran: bukan uang sungguhan.',
  backToShop: 'Kembali ke toko',
  notPaid: 'Belum dibayar',
  refunded: 'dikembalikan',
  earlier: 'Transaksi sebelumnya',
  notifications: 'Notifikasi yang dikirim ke toko',
  noResponse: 'belum ada respons',
  order: 'Pesanan',
  pageEnds: 'Halaman ini berlaku sampai',
  actions: {
    card: 'Bayar dengan kartu',
    'card-authorize': 'Tahan dana di kartu',
    gopay: 'Bayar dengan GoPay',
    qris: 'Bayar dengan QRIS',
    'bank-transfer': 'Bayar lewat transfer bank',
    'convenience-store': 'Bayar di minimarket',
    settle: 'Selesaikan pembayaran',
    capture: 'Tarik dana yang ditahan',
    refund: 'Kembalikan semua dana',
    'partial-refund': 'Kembalikan setengah dana',
    cancel: 'Batalkan pembayaran',
    expire: 'Biarkan pembayaran kedaluwarsa',
    deny: 'Tolak pembayaran',
    fail: 'Gagalkan pembayaran',
    'send-again': 'Kirim ulang notifikasi terakhir',
    'send-late-pending': 'Kirim notifikasi pending yang terlambat',
    'send-bad-signature': 'Kirim tanda tangan yang salah',
  },
};

export const PAGE_TEXTS: Readonly<Record<Language, PageTexts>> = { en: EN, id: ID };
