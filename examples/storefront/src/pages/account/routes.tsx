import { Route, Routes } from 'react-router';
import { GuestsOnly, RequireUser } from '../../routing/guards';
import { LostPage } from '../lost';
import { ForgotPage } from './forgot';
import { LoginPage } from './login';
import { ProfilePage } from './profile';
import { RegisterPage } from './register';
import { VerifyPage } from './verify';

/** Pages with forms of the account. Every other address is unknown. */
export default function AccountPages() {
  return (
    <Routes>
      <Route element={<GuestsOnly />}>
        <Route path="login" element={<LoginPage />} />
        <Route path="register" element={<RegisterPage />} />
        <Route path="forgot" element={<ForgotPage />} />
      </Route>
      <Route element={<RequireUser />}>
        <Route path="profile" element={<ProfilePage />} />
        <Route path="verify" element={<VerifyPage />} />
      </Route>
      <Route path="*" element={<LostPage />} />
    </Routes>
  );
}
