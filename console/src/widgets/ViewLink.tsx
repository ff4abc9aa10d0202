import { Anchor, type AnchorProps } from '@mantine/core';
import { Link, type LinkProps } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { View } from '../shell/address.js';

/** A link to another view of the console. */
export function ViewLink({
  view,
  children,
  title,
  ...props
}: AnchorProps & {
  readonly view: View;
  readonly title?: string;
  readonly children: ReactNode;
}): ReactNode {
  const { to, params = {}, search = {} } = view;
  const link = { to, params, search } as unknown as LinkProps;
  return (
    <Anchor {...props} title={title} renderRoot={(root) => <Link {...link} {...root} />}>
      {children}
    </Anchor>
  );
}
