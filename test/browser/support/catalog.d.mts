export const PRODUCTS: number;
