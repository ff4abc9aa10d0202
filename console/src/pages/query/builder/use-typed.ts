import { useState } from 'react';

/** What is typed into a field and not taken over yet; it begins anew where what is given changed elsewhere, so that nothing writes an old value back. */
export function useTyped(given: string): readonly [typed: string, type: (text: string) => void] {
  const [state, setState] = useState({ given, typed: given });
  if (state.given !== given) setState({ given, typed: given });
  const typed = state.given === given ? state.typed : given;
  return [typed, (text) => setState({ given, typed: text })];
}
