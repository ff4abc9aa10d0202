let isPressed = false;
addEventListener('pointerdown', () => (isPressed = true), true);
for (const end of ['pointerup', 'pointercancel']) addEventListener(end, () => (isPressed = false), true);

/**
 * Does something once the mouse is let go, if it is down: what is pressed does not move away from under it, and the press is not
 * lost.
 */
export function afterPress(work: () => void): void {
  if (isPressed) addEventListener('pointerup', () => setTimeout(work), { once: true });
  else work();
}
