import { useMutation } from '@tanstack/react-query';
import { Link } from 'react-router';
import type { AdminOrder, Fulfilment } from '../../api/client';
import { explain } from '../../api/errors';
import { useBackLinkState } from '../../components/back-link';
import { Badge } from '../../components/badge';
import { Alert } from '../../components/notice';
import { describeFulfilment } from '../../components/order-texts';
import { formatOrderNumber, toPhoneLink } from '../../format';
import { NextStepButton } from './step-buttons';

interface DayOrderProps {
  order: AdminOrder;
  /** Text for the pickup time. */
  time: string;
  /** Error of the order's latest step. It is a prop, because a row loses its state when its order moves to another list. */
  error: Error | undefined;
  onTakeStep: (orders: AdminOrder[], step: Fulfilment) => Promise<void>;
}

/** Order in a list of the day, with a button for its next step. */
export function DayOrder({ order, time, error, onTakeStep }: DayOrderProps) {
  const { mutate, isPending } = useMutation({ mutationFn: (step: Fulfilment) => onTakeStep([order], step) });
  const backLinkState = useBackLinkState();
  const { order_id, phone, note, customer, items, fulfilment } = order;
  return (
    <li className={error ? 'row day-order failed' : 'row day-order'}>
      <span className="pickup-time">{time}</span>
      <div className="row-main">
        <span className="contact-links">
          <strong>{customer.fullname}</strong>
          <Link to={`/manage/orders/${order_id}`} state={backLinkState}>
            {formatOrderNumber(order_id)}
          </Link>
          {phone !== null && <a href={toPhoneLink(phone)}>{phone}</a>}
        </span>
        <ul className="items">
          {items.map(({ product_id, name, quantity }) => (
            <li key={product_id}>{`${quantity} × ${name}`}</li>
          ))}
        </ul>
        {note !== null && <p className="note">{note}</p>}
        <Alert>{error && explain(error)}</Alert>
      </div>
      <div className="next-step">
        <Badge {...describeFulfilment(fulfilment)} />
        <NextStepButton
          order={order}
          description={`${customer.fullname}, ${formatOrderNumber(order_id)}`}
          isBusy={isPending}
          onTakeStep={mutate}
        />
      </div>
    </li>
  );
}
