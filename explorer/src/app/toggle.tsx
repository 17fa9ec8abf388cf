import { useId } from 'react';
import styles from './toggle.module.css';

type ToggleProps<Value extends string> = {
  /** What is chosen, for screen readers. */
  readonly legend: string;
  readonly choices: readonly {
    readonly value: Value;
    readonly title: string;
    readonly label: string;
    /** The path of an icon in a square of 16, shown in place of the label. */
    readonly icon?: string;
  }[];
  readonly value: Value;
  readonly onChoose: (value: Value) => void;
};

/** A choice among a few, in the header of the page. Arrow keys choose. */
export function Toggle<Value extends string>({ legend, choices, value, onChoose }: ToggleProps<Value>) {
  const name = useId();
  return (
    <fieldset className={styles.toggle}>
      <legend className="visually-hidden">{legend}</legend>
      {choices.map((choice) => (
        <label key={choice.value} className={styles.choice} title={choice.title}>
          <input
            type="radio"
            name={name}
            className="visually-hidden"
            checked={choice.value === value}
            onChange={() => onChoose(choice.value)}
          />
          {choice.icon === undefined ? (
            <span translate="no">{choice.label}</span>
          ) : (
            <>
              <svg viewBox="0 0 16 16" aria-hidden="true">
                <path d={choice.icon} />
              </svg>
              <span className="visually-hidden">{choice.label}</span>
            </>
          )}
        </label>
      ))}
    </fieldset>
  );
}
