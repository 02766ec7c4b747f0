import { useEffect, useRef } from 'react';

interface ConfirmDialogProps {
  question: string;
  text: string;
  /** Text of the button that agrees. */
  yes: string;
  onClose: (hasAgreed: boolean) => void;
}

/** Asks before something that cannot be undone. Escape means no. */
export function ConfirmDialog({ question, text, yes, onClose }: ConfirmDialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (dialog.current?.open === false) dialog.current.showModal();
  }, []);
  return (
    <dialog
      ref={dialog}
      aria-labelledby="question"
      aria-describedby="question-text"
      onClose={({ currentTarget }) => onClose(currentTarget.returnValue === 'yes')}
    >
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
  );
}
