import { type components, createBakeryClient, dataOf } from 'bakery-client';
import { handleSessionEnd } from '../state/session';

export type Schemas = components['schemas'];
export type Product = Schemas['ListedProductView'];
export type AdminProduct = Schemas['AdminProductView'];
export type Order = Schemas['OrderView'];
export type OrderStatus = Order['status'];
export type Fulfilment = Order['fulfilment'];
export type AdminOrder = Schemas['AdminOrderView'];
/** Event of an order's payment history. */
export type PaymentEvent = Schemas['NotificationView'];
export type Transaction = Schemas['TransactionView'];
export type OrderAction = Schemas['ActionView'];
export type Shop = Schemas['ShopView'];
export type ShopSettings = Schemas['ShopDto'];
export type User = Schemas['UserWithRoleView'];

export const API_OPTIONS = {
  baseUrl: (import.meta.env.VITE_API_URL as string | undefined) ?? 'http://localhost:3000',
  onSignedOut: handleSessionEnd,
};

export const api = createBakeryClient(API_OPTIONS);

/** Returns the data of a call, and the ETag that a later change of the resource sends. */
export async function withEtag<R extends { response: Response }>(call: Promise<R>) {
  const data = await dataOf(call);
  const { response } = await call;
  return { data, etag: response.headers.get('ETag') };
}

/** Returns the header `If-Match`. The service rejects a change with 412 if the resource no longer has this ETag. */
export function toIfMatchHeader(etag: string | null) {
  return etag === null ? {} : { 'If-Match': etag };
}
