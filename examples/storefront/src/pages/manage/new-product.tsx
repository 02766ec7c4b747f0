import { ManagePage } from './manage-page';
import { ProductForm } from './product-form';

export default function NewProductPage() {
  return (
    <ManagePage title="New product">
      <ProductForm />
    </ManagePage>
  );
}
