import { ButtonLink } from '../components/button';
import { Notice, PageHeading } from '../components/page';

export function NotFoundPage() {
  return (
    <div className="page">
      <PageHeading isVisuallyHidden>Not found</PageHeading>
      <Notice
        icon="shop"
        title="There is nothing here"
        text="The page may have moved, or your account may not have access to it."
      >
        <ButtonLink to="/">To the shop</ButtonLink>
      </Notice>
    </div>
  );
}
