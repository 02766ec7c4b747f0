import { ButtonLink } from '../components/button';
import { PageHeading } from '../components/page';
import { Picture } from '../components/picture';

/** Names for which `Picture` shows different drawings. */
const DRAWN_PRODUCTS = ['Croissant', 'Roti', 'Kue lapis', 'Donat'];

/** Start page for visitors who are not signed in, if the catalog is only for customers with an account. */
export function WelcomePage() {
  return (
    <div className="page welcome">
      <div>
        <p className="eyebrow">Roti Pagi, Yogyakarta</p>
        <PageHeading>Bread that was dough an hour ago</PageHeading>
        <p className="lead">
          Sourdough, kue lapis, croissants: made by hand through the night, yours before breakfast.
        </p>
        <div className="actions">
          <ButtonLink to="/register">Create an account</ButtonLink>
          <ButtonLink className="button quiet" to="/login">
            Sign in
          </ButtonLink>
        </div>
      </div>
      <div className="welcome-pictures" aria-hidden="true">
        {DRAWN_PRODUCTS.map((name, index) => (
          <Picture key={name} product={{ id: index + 1, name }} />
        ))}
      </div>
    </div>
  );
}
