/** Bounds the log lines that one sender causes: a few a minute are written, and one says how many more there were. */

/** Lines of one kind that one sender causes in a minute: enough to see what is wrong, and for how many of its requests. */
export const linesAMinute = 20;
/** Causes that are counted apart at once; others count as one. */
const causesAtMost = 1_000;
const others: Cause = { sender: 'others' };
const minuteMs = 60_000;

type Facts = Readonly<Record<string, unknown>>;
type Write = (message: string, facts: Facts) => void;
/** Whose line it is, and of what kind. */
type Cause = Readonly<Record<string, string>>;

/** @returns writes a line, or counts it */
export const boundedLines = (
  write: Write,
  later: (call: () => void, ms: number) => void = (call, ms) => setTimeout(call, ms).unref(),
): ((cause: Cause, message: string, facts: Facts) => void) => {
  const causes = new Map<string, { written: number; left: number }>();

  const linesOf = (cause: Cause, message: string) => {
    const key = JSON.stringify([message, cause]);
    const known = causes.get(key);
    if (known) return known;
    const lines = { written: 0, left: 0 };
    causes.set(key, lines);
    later(() => {
      causes.delete(key);
      if (lines.left > 0) write('more of the same in a minute', { says: message, ...cause, lines: lines.left });
    }, minuteMs);
    return lines;
  };

  return (cause, message, facts) => {
    const lines = linesOf(causes.size < causesAtMost ? cause : others, message);
    if (lines.written >= linesAMinute) {
      lines.left += 1;
      return;
    }
    lines.written += 1;
    write(message, facts);
  };
};
