import { useQuery } from '@tanstack/react-query';
import type { Shop } from '../api/client';
import { shopInfo } from '../api/shop';
import { formatOrderNumber, toPhoneLink } from '../format';
import { t } from '../i18n';

/** Address, phone number, WhatsApp and website of the shop, as far as they are set. */
export function ShopContact({ orderId }: { orderId?: string }) {
  const { data } = useQuery(shopInfo);
  if (!data) return null;
  const { address, phone, whatsapp, website } = data;
  return (
    <address className="contact-links">
      {address !== null && <span>{address}</span>}
      {phone !== null && <a href={toPhoneLink(phone)}>{phone}</a>}
      {whatsapp !== null && (
        <a href={toWhatsAppLink(whatsapp, data, orderId)} target="_blank" rel="noopener">
          WhatsApp<span className="visually-hidden"> {t('newTab')}</span>
        </a>
      )}
      {website !== null && <a href={website}>{website.replace(/^https?:\/\//, '')}</a>}
    </address>
  );
}

/** Returns the link to a WhatsApp chat with the shop. If an order is given, the chat starts with a message that names the order. */
function toWhatsAppLink(number: string, { name }: Shop, orderId?: string) {
  // WhatsApp needs the country code: 0812 becomes 62812, also in `+62 (0)812` and `0062 812`.
  const digits = number
    .replaceAll(/\D/g, '')
    .replace(/^00/, '')
    .replace(/^(620|0)/, '62');
  const link = `https://wa.me/${digits}`;
  if (orderId === undefined) return link;
  const text = t('contact.aboutOrder', { name, number: formatOrderNumber(orderId) });
  return `${link}?text=${encodeURIComponent(text)}`;
}
