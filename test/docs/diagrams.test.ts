/** The diagrams: the life of a node has every state and verb of the table. */
import { states, transitions } from '../../src/model/lifecycle/states';
import { diagrams } from '../../tools/gen/diagrams';

/** Texts of boxes, or those on arrows. */
const textsOf = (svg: string, on: 'boxes' | 'arrows'): string[] =>
  [...svg.matchAll(/<text [^>]*class="([^"]*)"[^>]*>([^<]*)<\/text>/g)].flatMap(([, kind, text]) =>
    kind!.includes('halo') === (on === 'arrows') ? [text!] : [],
  );

test('the life of a node names every state once, and every verb that a resting node takes', () => {
  const svg = diagrams['docs/diagrams/life-of-a-node.svg']!();
  const boxes = textsOf(svg, 'boxes');
  for (const state of Object.keys(states))
    expect([state, boxes.filter((text) => text === state).length]).toEqual([state, 1]);
  const verbs = textsOf(svg, 'arrows').flatMap((text) => text.split(', '));
  for (const { from, on } of transitions) if (states[from].kind === 'stable') expect(verbs).toContain(on);
});

test('what a drawing shows is in words, too, and nothing in it is drawn outside', () => {
  for (const [path, render] of Object.entries(diagrams)) {
    const svg = render();
    const [, width, height] = /viewBox="0 0 (\d+) (\d+)"/.exec(svg)!.map(Number);
    expect([path, /<desc [^>]*>([^<]{100,})<\/desc>/.test(svg)]).toEqual([path, true]);
    for (const [, x, y] of svg.matchAll(/<(?:rect|text) x="([\d.-]+)" y="([\d.-]+)"/g)) {
      expect([path, Number(x) >= 0 && Number(x) < width!]).toEqual([path, true]);
      expect([path, Number(y) >= 0 && Number(y) <= height!]).toEqual([path, true]);
    }
  }
});
