/** The diagrams of the documents, by their paths. */
import { renderKilledWorker } from './killed-worker';
import { renderLifeOfANode } from './life-of-a-node';
import { renderRestore } from './restore';
import { renderWaves } from './waves';
import { renderWiring } from './wiring';

export const diagrams: Readonly<Record<string, () => string>> = {
  'docs/diagrams/killed-worker.svg': renderKilledWorker,
  'docs/diagrams/life-of-a-node.svg': renderLifeOfANode,
  'docs/diagrams/restore.svg': renderRestore,
  'docs/diagrams/waves.svg': renderWaves,
  'docs/diagrams/wiring.svg': renderWiring,
};
