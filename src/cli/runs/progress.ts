/** Progress of a run on a terminal: one repainted line with steps, attempts and expected times. */
import { MultiBar, type Options, Presets } from 'cli-progress';
import type { Run, RunStep } from '../../wire/runs';
import { clock } from '../spans';
import { cut, plainText } from '../tables';

export type Progress = {
  /** Prints above the bar. */
  say(line: string): void;
  show(run: Run): void;
  /** Removes the bar and keeps the printed lines. */
  close(): void;
};

const ofStep = (step: RunStep, now: number): string => {
  const tries = step.attempt > 1 ? `attempt ${step.attempt}` : null;
  const took = step.started_at && step.state !== 'pending' ? clock(now - Date.parse(step.started_at)) : null;
  const usual = step.expected_ms ? `usually ${clock(step.expected_ms)}` : null;
  const says = step.waiting_for ? `waits for ${step.waiting_for}` : step.last_error;
  return [`${step.interface}.${step.step}`, tries, took, usual, says].filter((part) => part !== null).join(', ');
};

/** Returns null if a remaining step has no known duration. */
export const leftMs = (run: Run, now: number): number | null => {
  const left = run.steps.slice(run.cursor);
  if (left.length === 0 || left.some(({ expected_ms }) => !expected_ms)) return null;
  const took = (step: RunStep): number =>
    step.started_at && step.state !== 'pending' ? now - Date.parse(step.started_at) : 0;
  return left.reduce((sum, step) => sum + Math.max(0, step.expected_ms! - took(step)), 0);
};

export const progressText = (run: Run, now: number): string => {
  if (run.finished_at) return plainText(run.state);
  const step = run.steps[run.cursor];
  const left = leftMs(run, now);
  const rest = left ? ` (about ${clock(left)} left)` : '';
  const state = run.phase === 'retrying' ? 'retrying' : run.state;
  return plainText(`${state}${rest}${step ? `: ${ofStep(step, now)}` : ''}`);
};

// Characters of the line beside the text: bar, counts, blanks.
const besideText = 34;

/** The caller closes the progress before the command ends. */
export const startProgress = (terminal: NodeJS.WriteStream): Progress => {
  const options: Options = {
    clearOnComplete: true,
    hideCursor: true,
    // The caller closes it in every case.
    gracefulExit: false,
    stream: terminal,
    format: '{bar} {value}/{total}  {text}',
    barsize: 20,
  };
  const bars = new MultiBar(options, Presets.shades_classic);
  let known: Run | undefined;
  const textNow = () => cut(known ? progressText(known, Date.now()) : '', Math.max(10, terminal.columns - besideText));
  const bar = bars.create(1, 0, { text: '' });
  // Advances the clock between two reads.
  const timer = setInterval(() => bar.update({ text: textNow() }), 1_000);
  return {
    say: (line) => {
      bars.log(`${line}\n`);
      bars.update();
    },
    show: (run) => {
      known = run;
      bar.setTotal(Math.max(1, run.steps.length));
      bar.update(Math.min(run.cursor, run.steps.length), { text: textNow() });
      bars.update();
    },
    close: () => {
      clearInterval(timer);
      bars.stop();
    },
  };
};
