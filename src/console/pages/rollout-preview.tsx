/** Preview of a rollout, beside the form of the planner. */
import type { RolloutPreview } from '../../wire/rollouts';
import { Facts, Notice, spanOf } from '../parts/texts';
import type { Draft, DraftFault } from './rollout-draft';

const nodesText = (many: number): string => `${many} ${many === 1 ? 'node' : 'nodes'}`;

const Left = ({ refused }: Pick<RolloutPreview['summary'], 'refused'>) => (
  <ul class="lines">
    {refused.map(({ code, reason, nodes }) => (
      <li key={code + reason}>
        <span><b>{nodes} left out</b> ({code}): {reason}</span>
      </li>
    ))}
  </ul>
); // biome-ignore format: short parts

/** A strict limit of failures also limits the nodes at once, which must not be a surprise. */
const limitText = ({ budget, mode, at_once }: Draft, preview: RolloutPreview): string | undefined => {
  if (preview.at_once === null) return undefined;
  if (mode === 'stop') return `It stops for good after ${budget} failures; nodes under way then can fail, too.`;
  const wanted = /^\d+$/.test(at_once) ? Number(at_once) : undefined;
  return wanted !== undefined && wanted > preview.at_once
    ? `“Failures at most” allows ${preview.at_once} at once, not ${wanted}: each node under way could still fail.`
    : undefined;
};

const summaryRows = ({ summary, waves, at_once }: RolloutPreview) =>
  [
    ['Waves', waves.map(({ size }) => size).join(' + ')],
    ['At once', at_once ?? 'no limit'],
    ['Harmed at most', summary.harmed_at_most],
    ['Restarts', summary.restarts || null],
    ['Erases', summary.erased || null],
    ['Tenants asked for', summary.need_consent ? nodesText(summary.need_consent) : null],
    ['Projects', summary.projects.length || null],
    ['Usually takes', summary.expected_ms ? spanOf(summary.expected_ms) : 'not known yet'],
  ] as const;

const Shown = ({ draft, preview }: { draft: Draft; preview: RolloutPreview }) => {
  const { summary } = preview;
  const limit = limitText(draft, preview);
  return (
    <>
      <p><b>{summary.will_run} of {nodesText(summary.selected)} would run.</b> Nothing was changed.</p>
      {summary.erased > 0 && <Notice tone="bad" says={`It erases ${nodesText(summary.erased)}.`} />}
      <Facts rows={summaryRows(preview)} />
      {limit && <p class="wait">{limit}</p>}
      {summary.refused.length > 0 && <Left refused={summary.refused} />}
    </>
  );
}; // biome-ignore format: short parts

export type Previewed = { readonly preview?: RolloutPreview; readonly fault?: DraftFault };

/** Scripts fetch its content when the form changes; without them a button shows it. */
export const PreviewCard = ({ draft, previewed: { preview, fault } }: { draft: Draft; previewed: Previewed }) => (
  <section class="card preview" aria-label="Preview">
    <h2>Preview</h2>
    <div
      id="preview"
      class="stack"
      aria-live="polite"
      hx-post="/rollouts/new/preview"
      hx-trigger="load, change from:closest form delay:300ms"
      hx-select="#preview > *"
      hx-swap="innerHTML"
      hx-sync="this:replace"
    >
      {fault && <p class="bad">{fault.says}</p>}
      {preview && <Shown draft={draft} preview={preview} />}
      {!fault && !preview && <p class="muted">Choose the work and the nodes. Preview shows the result.</p>}
    </div>
  </section>
);
