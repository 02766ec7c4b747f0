import type { Language } from '../../common/languages.js';
import type { ActionName } from './simulator-actions.js';

interface PageTexts {
  readonly title: string;
  readonly noRealMoney: string;
  readonly backToShop: string;
  /** The name of the action follows. */
  readonly rejected: string;
  readonly notPaid: string;
  /** The amount follows. */
  readonly refunded: string;
  /** Its payment type and status follow. */
  readonly earlier: string;
  readonly notifications: string;
  readonly noResponse: string;
  /** The id follows. */
  readonly order: string;
  /** The time follows. */
  readonly pageEnds: string;
  /** Labels of the buttons. */
  readonly actions: Readonly<Record<ActionName, string>>;
}

export const PAGE_TEXTS: Readonly<Record<Language, PageTexts>> = {
  en: {
    title: 'Payment simulator',
    noRealMoney: 'Payment simulator: no real money.',
    backToShop: 'Back to the shop',
    rejected: 'Nothing was sent: the payment is in a state that does not allow',
    notPaid: 'Not paid yet',
    refunded: 'refunded',
    earlier: 'Earlier transaction',
    notifications: 'Notifications sent to the shop',
    noResponse: 'no response yet',
    order: 'Order',
    pageEnds: 'The page ends at',
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
  },
  id: {
    title: 'Simulator pembayaran',
    noRealMoney: 'Simulator pembayaran: bukan uang sungguhan.',
    backToShop: 'Kembali ke toko',
    rejected: 'Tidak ada yang dikirim: status pembayaran ini tidak mengizinkan',
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
  },
};
