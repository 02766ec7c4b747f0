import { ApiProperty } from '@nestjs/swagger';
import { type Role, ROLES } from '../common/access.js';
import type { User } from './user.entity.js';

/** User without a role: in GET /api/users, as `users` of a login, and wherever an order names a user. */
export class UserView {
  @ApiProperty({ type: 'integer', example: 12 })
  readonly id: number;

  @ApiProperty({ example: 'Ayu Lestari' })
  readonly fullname: string;

  @ApiProperty({ example: 'ayu@example.com' })
  readonly email: string;

  constructor({ id, fullname, email }: Pick<User, 'id' | 'fullname' | 'email'>) {
    this.id = id;
    this.fullname = fullname;
    this.email = email;
  }
}

/** User with a role, in all other responses. The contract requires the role for registration and refresh (4.1, 4.3). */
export class UserWithRoleView extends UserView {
  @ApiProperty({ enum: ROLES, example: 'USER' })
  readonly role: Role;

  constructor(user: Pick<User, 'id' | 'fullname' | 'email' | 'role'>) {
    super(user);
    this.role = user.role;
  }
}
