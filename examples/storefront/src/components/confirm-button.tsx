import { type SyntheticEvent, useRef } from 'react';
import { Button } from './button';

interface ConfirmButtonProps {
  className: string;
  label: string;
  question: string;
  text: string;
  /** Text of the button that agrees. */
  yes: string;
  onConfirm: () => void;
}

/** A button for something that cannot be undone: it asks first. Escape means no. */
export function ConfirmButton({ className, label, question, text, yes, onConfirm }: ConfirmButtonProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const onClose = ({ currentTarget }: SyntheticEvent<HTMLDialogElement>) => {
    if (currentTarget.returnValue === 'yes') onConfirm();
    // Escape would leave the answer of the last time.
    currentTarget.returnValue = 'no';
  };
  return (
    <>
      <Button className={className} onClick={() => dialog.current?.showModal()}>
        {label}
      </Button>
      <dialog ref={dialog} aria-labelledby="question" aria-describedby="question-text" onClose={onClose}>
        <form method="dialog">
          <h2 id="question">{question}</h2>
          <p id="question-text">{text}</p>
          <div className="actions">
            <button className="button quiet" value="no">
              Keep it
            </button>
            <button className="button danger" value="yes">
              {yes}
            </button>
          </div>
        </form>
      </dialog>
    </>
  );
}
