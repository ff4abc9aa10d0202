// In the place of what `npm create vite` makes.
import everchart from '@everchart/codegen/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

export default defineConfig({ plugins: [react(), everchart()] });
