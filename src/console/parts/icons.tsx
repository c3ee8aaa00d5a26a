/** An icon out of the file of symbols; the words beside it say what it means. */
import type { IconName } from '../icons';
import { assetPath } from '../server/assets';

export const Icon = ({ is }: { is: IconName }) => (
  <svg class="icon" aria-hidden="true">
    <use href={`${assetPath('icons')}#${is}`} />
  </svg>
);
