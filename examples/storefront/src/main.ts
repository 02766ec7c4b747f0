import { dataOf } from 'bakery-client';
import { api } from './api.js';
import { h } from './dom.js';
import { forgotPage, loginPage, registerPage, verifyPage } from './pages/account.js';
import { cartPage } from './pages/cart.js';
import { catalog } from './pages/catalog.js';
import { manageOrdersPage } from './pages/manage-orders.js';
import { editProductPage, newProductPage } from './pages/manage-product.js';
import { manageProductsPage } from './pages/manage-products.js';
import { orderPage } from './pages/order.js';
import { ordersPage } from './pages/orders.js';
import { productPage } from './pages/product.js';
import { profilePage } from './pages/profile.js';
import { type Route, startRouter } from './router.js';
import { onSessionEnded, session, signIn } from './session.js';
import { notice, toast } from './ui/messages.js';
import { shell } from './ui/shell.js';

const ROUTES: readonly Route[] = [
  { path: '/', title: 'Bread and cakes', access: 'anyone', draw: catalog },
  { path: '/products/:id', title: 'Product', access: 'user', draw: productPage },
  { path: '/cart', title: 'Your cart', access: 'user', draw: cartPage },
  { path: '/orders', title: 'Your orders', access: 'user', draw: ordersPage },
  { path: '/orders/:id', title: 'Order', access: 'user', draw: orderPage },
  { path: '/profile', title: 'Your account', access: 'user', draw: profilePage },
  { path: '/verify', title: 'Verify your e-mail', access: 'user', draw: verifyPage },
  { path: '/login', title: 'Sign in', access: 'guest', draw: loginPage },
  { path: '/register', title: 'Create an account', access: 'guest', draw: registerPage },
  { path: '/forgot', title: 'Forgotten password', access: 'guest', draw: forgotPage },
  { path: '/manage/products', title: 'Products', access: 'admin', draw: manageProductsPage },
  { path: '/manage/products/new', title: 'New product', access: 'admin', draw: newProductPage },
  { path: '/manage/products/:id', title: 'Edit product', access: 'admin', draw: editProductPage },
  { path: '/manage/orders', title: 'Orders', access: 'admin', draw: manageOrdersPage },
];

const LOST: Route = {
  path: '',
  title: 'Not found',
  access: 'anyone',
  draw: () =>
    h(
      'div',
      { class: 'page' },
      h('h1', { class: 'hidden' }, 'Not found'),
      notice({
        icon: 'shop',
        title: 'There is nothing here',
        text: 'The page may have moved, or it is not for your account.',
        actions: [h('a', { class: 'button', href: '/' }, 'To the shop')],
      }),
    ),
};

function start(): void {
  const { node, outlet, moved } = shell();
  document.querySelector('#app')?.replaceWith(node);
  onSessionEnded(() => {
    toast('Your session has ended. Please sign in again.');
  });
  startRouter({ routes: ROUTES, lost: LOST, outlet, shopName: 'Roti Pagi', moved });
  void meetPerson();
}

/** Takes over what the service knows of the person: the name may be newer, or the session older than this page. */
async function meetPerson(): Promise<void> {
  const known = session.get();
  try {
    if (known === null) {
      signIn((await dataOf(api.GET('/api/refresh'))).user);
    } else {
      const { user } = await dataOf(api.GET('/api/users'));
      if (session.get()?.id === user.id) signIn({ ...known, ...user }, known.emailVerified);
    }
  } catch {
    // Nobody is signed in, or nobody can tell: the pages work with what is known.
  }
}

start();
