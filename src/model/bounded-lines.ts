/** Bounds the log lines of one sender: some lines a minute, then one line with the number of omitted ones. */

/** Per sender and kind: enough to see the fault and how many requests it affects. */
export const linesAMinute = 20;
/** Further causes share one count. */
const causesAtMost = 1_000;
const others: Cause = { sender: 'others' };
const minuteMs = 60_000;

type LineFacts = Readonly<Record<string, unknown>>;
type Write = (message: string, facts: LineFacts) => void;
/** Sender and kind of a line. */
type Cause = Readonly<Record<string, string>>;

export const boundedLines = (
  write: Write,
  later: (call: () => void, ms: number) => void = (call, ms) => setTimeout(call, ms).unref(),
): ((cause: Cause, message: string, facts: LineFacts) => void) => {
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
