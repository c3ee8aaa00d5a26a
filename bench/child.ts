/** Helper processes of the bench: each a program of its own, so that what it costs is not counted with something else. */
import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';

/** A helper that answers one question at a time over its channel. */
export type Helper<Question, Answer> = {
  readonly pid: number;
  ask(question: Question): Promise<Answer>;
  stop(): Promise<void>;
};

type Reply<Answer> = { readonly answer: Answer } | { readonly failed: string };

/** Starts the compiled program of this name (`noop/worker` is `bench/noop/worker.ts`). */
export const startHelper = <Question, Answer>(
  name: string,
  args: readonly string[] = [],
  env: NodeJS.ProcessEnv = {},
): Helper<Question, Answer> => {
  const child = fork(join(__dirname, `${name}.js`), args, { env: { ...process.env, ...env } });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  return {
    pid: child.pid ?? 0,
    ask: (question) => exchange(name, child, question),
    async stop() {
      if (child.connected) child.disconnect();
      await ended;
    },
  };
};

const exchange = <Question, Answer>(name: string, child: ChildProcess, question: Question): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const gone = (code: number | null) => reject(new Error(`${name} ended with ${code}`));
    child.once('exit', gone);
    child.once('message', (reply: Reply<Answer>) => {
      child.off('exit', gone);
      if ('failed' in reply) reject(new Error(`${name}: ${reply.failed}`));
      else resolve(reply.answer);
    });
    child.send(question as object);
  });

/** The helper's side: answers questions until its parent is gone, then closes. */
export const answerParent = <Question, Answer>(
  answer: (question: Question) => Promise<Answer>,
  close: () => Promise<void> = async () => {},
): void => {
  process.on('message', (question: Question) => {
    answer(question).then(
      (value) => process.send?.({ answer: value }),
      (error: Error) => process.send?.({ failed: error.message }),
    );
  });
  process.once('disconnect', () => {
    void close().finally(() => process.exit(0));
  });
};
