import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import './styles/tokens.css';
import './styles/base.css';
import { App } from './app/app.tsx';
import { startTheme } from './app/theme.ts';

const root = document.getElementById('root');
if (root === null) throw new Error('the page has no element with the id root');

startTheme();
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
