import { type PointerEvent, useState } from 'react';

/**
 * What a list shows. While a pointer is pressed on the list, this stays as it was, so that the click is for the row that was pressed.
 * The element of the list gets the handlers.
 */
export function useSteady<Value>(newest: Value) {
  const [pressed, setPressed] = useState<{ readonly value: Value }>();
  const release = () => setPressed(undefined);
  const handlers = {
    onPointerDown: () => setPressed({ value: newest }),
    onClick: release,
    onPointerCancel: release,
    // A long press and the other buttons have no click.
    onContextMenu: release,
    onAuxClick: release,
    // A finger leaves before the click.
    onPointerLeave: ({ pointerType }: PointerEvent) => pointerType === 'mouse' && release(),
  };
  return { steady: pressed === undefined ? newest : pressed.value, handlers };
}
