import { Navigate, Route, Routes } from 'react-router';
import { LostPage } from '../lost';
import { ManageOrdersPage } from './orders';
import { EditProductPage, NewProductPage } from './product';
import { ManageProductsPage } from './products';

/** The administrators' pages. */
export default function ManagePages() {
  return (
    <Routes>
      <Route index element={<Navigate to="products" replace />} />
      <Route path="products" element={<ManageProductsPage />} />
      <Route path="products/new" element={<NewProductPage />} />
      <Route path="products/:id" element={<EditProductPage />} />
      <Route path="orders" element={<ManageOrdersPage />} />
      <Route path="*" element={<LostPage />} />
    </Routes>
  );
}
