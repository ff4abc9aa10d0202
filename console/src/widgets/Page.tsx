import { Breadcrumbs, Group, Text, Title } from '@mantine/core';
import { useEffect, type ReactNode } from 'react';
import type { View } from '../shell/address.js';
import { ViewLink } from './ViewLink.js';

/** One step of the way that leads to a page. */
export interface Crumb {
  readonly label: string;
  readonly view: View;
}

/** The frame of a page: the way to it, its title, what can be done with the whole, its content. */
export function Page({
  title,
  crumbs = [],
  actions,
  children,
}: {
  readonly title: string;
  readonly crumbs?: readonly Crumb[];
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}): ReactNode {
  useEffect(() => {
    document.title = `${title} · everchart`;
  }, [title]);
  return (
    <div className="page">
      <Group component="header" className="page-head" justify="space-between" wrap="wrap">
        <div>
          {crumbs.length > 0 && (
            <Breadcrumbs separator="›" separatorMargin={6}>
              {crumbs.map(({ label, view }) => (
                <ViewLink key={label} view={view} size="sm">
                  {label}
                </ViewLink>
              ))}
              <Text size="sm" c="dimmed" className="crumb">
                {title}
              </Text>
            </Breadcrumbs>
          )}
          <Title order={1}>{title}</Title>
        </div>
        <Group gap="xs">{actions}</Group>
      </Group>
      {children}
    </div>
  );
}

/** A part of a page under a heading of its own. */
export function Section({
  title,
  aside,
  children,
}: {
  readonly title: string;
  readonly aside?: ReactNode;
  readonly children: ReactNode;
}): ReactNode {
  return (
    <section className="section">
      <Group justify="space-between" align="baseline" mb="xs">
        <Title order={2}>{title}</Title>
        {aside}
      </Group>
      {children}
    </section>
  );
}
