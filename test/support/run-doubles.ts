/** Store, engine and log in one file's memory, for what runs ask of them: each answers as it is bidden and notes what it was asked. */

/** What the queries of a store answer, by `table.query`. */
export type Answers = Readonly<Record<string, unknown>>;

/** A store that answers with these values, or with what these functions give, and notes every call as `table.query`. */
export const storeOf = (answers: Answers) => {
  const calls: [string, ...unknown[]][] = [];
  const room = (name: string) =>
    new Proxy(
      {},
      {
        get:
          (_, query: string) =>
          async (...args: unknown[]) => {
            calls.push([`${name}.${query}`, ...args]);
            const answer = answers[`${name}.${query}`];
            return typeof answer === 'function' ? answer(...args) : answer;
          },
      },
    );
  const inventory: object = new Proxy(
    {
      transaction: (work: (store: unknown) => unknown) => work(inventory),
      alone: (_: string, work: () => unknown) => work(),
    },
    { get: (own, name: string) => Reflect.get(own, name) ?? room(name) },
  );
  const of = (name: string) => calls.filter(([call]) => call === name).map(([, ...args]) => args);
  return { inventory, calls, of };
};

/** An engine whose every call is answered by this function. */
export const clientOf = (answer: (name: string, ...args: unknown[]) => unknown) => {
  const calls: string[] = [];
  const noted =
    (name: string) =>
    async (...args: unknown[]) => {
      calls.push(name);
      return answer(name, ...args);
    };
  const names = ['signal', 'cancel', 'describe', 'terminate', 'executeUpdate'];
  const handle = Object.fromEntries(names.map((name) => [name, noted(name)]));
  const workflow = { start: noted('start'), getHandle: () => handle };
  return { calls, client: { workflow, withDeadline: (_: number, work: () => unknown) => work() } };
};
/** An engine that always fails so. */
export const failing = (thrown: Error) => () => {
  throw thrown;
};

/** The warnings of a log, and the facts of each. */
export const logOf = () => {
  const warned: string[] = [];
  const facts: unknown[] = [];
  const warn = (text: string, more?: object): void => {
    warned.push(text);
    facts.push(more);
  };
  return { warned, facts, log: { info() {}, warn } };
};
