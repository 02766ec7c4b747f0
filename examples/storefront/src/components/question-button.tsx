import { type ReactNode, type SyntheticEvent, useId, useRef } from 'react';
import { t } from '../i18n';
import { Button, type ButtonProps } from './button';

interface QuestionButtonProps extends Pick<ButtonProps, 'className' | 'disabled' | 'isBusy'> {
  label: string;
  question: string;
  text: ReactNode;
  /** Label of the button that declines. */
  declineLabel?: string;
  /** Button text for each answer. `onAnswer` receives the key. */
  answers: Record<string, string>;
  onAnswer: (answer: string) => void;
}

/** Button that asks a question before an action that cannot be undone. Escape declines. */
export function QuestionButton(props: QuestionButtonProps) {
  const { label, question, text, declineLabel = t('question.keep'), answers, onAnswer, ...button } = props;
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  const onClose = ({ currentTarget }: SyntheticEvent<HTMLDialogElement>) => {
    const { returnValue } = currentTarget;
    // Forget the answer. Escape sets no value, so closing the reopened dialog with Escape would report this answer again.
    currentTarget.returnValue = '';
    if (returnValue in answers) onAnswer(returnValue);
  };
  return (
    <>
      <Button {...button} onClick={() => dialog.current?.showModal()}>
        {label}
      </Button>
      <dialog ref={dialog} aria-labelledby={id} aria-describedby={`${id}-text`} onClose={onClose}>
        <form method="dialog">
          <h2 id={id}>{question}</h2>
          <p id={`${id}-text`}>{text}</p>
          <div className="actions">
            <Button type="submit" className="button quiet" value="">
              {declineLabel}
            </Button>
            {Object.entries(answers).map(([answer, buttonText]) => (
              <Button key={answer} type="submit" className="button danger" value={answer}>
                {buttonText}
              </Button>
            ))}
          </div>
        </form>
      </dialog>
    </>
  );
}
