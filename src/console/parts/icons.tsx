/** An icon of assets/icons.svg. Screen readers skip it, because the text beside it has the meaning. */
import type { IconName } from '../icons';
import { assetPath } from '../server/assets';

export const Icon = ({ is }: { is: IconName }) => (
  <svg class="icon" aria-hidden="true">
    <use href={`${assetPath('icons')}#${is}`} />
  </svg>
);
