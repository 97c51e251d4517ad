import torch
import torch.nn as nn

nz, ngf, ndf, nc = 16, 8, 8, 1
batch_size = 8
device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")


def weights_init(m):
    classname = m.__class__.__name__
    if classname.find("Conv") != -1:
        nn.init.normal_(m.weight.data, 0.0, 0.02)


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.main = nn.Sequential(
            nn.ConvTranspose2d(nz, ngf * 2, 4, 1, 0, bias=False),
            nn.BatchNorm2d(ngf * 2),
            nn.ReLU(True),
            nn.ConvTranspose2d(ngf * 2, ngf, 4, 2, 1, bias=False),
            nn.BatchNorm2d(ngf),
            nn.ReLU(True),
            nn.ConvTranspose2d(ngf, nc, 4, 2, 1, bias=False),
            nn.Tanh(),
        )

    def forward(self, z):
        return self.main(z)


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.main = nn.Sequential(
            nn.Conv2d(nc, ndf, 4, 2, 1, bias=False),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Conv2d(ndf, ndf * 2, 4, 2, 1, bias=False),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Conv2d(ndf * 2, 1, 4, 1, 0, bias=False),
        )

    def forward(self, img):
        return self.main(img).view(-1)


torch.manual_seed(999)
netG, netD = Generator().to(device), Discriminator().to(device)
netG.apply(weights_init)
criterion = nn.BCELoss()
optD = torch.optim.Adam(netD.parameters(), lr=2e-4, betas=(0.5, 0.999))
optG = torch.optim.Adam(netG.parameters(), lr=2e-4, betas=(0.5, 0.999))

for i in range(3):
    # update D with real, then with fake images
    netD.zero_grad()
    real = torch.rand(batch_size, nc, 16, 16, device=device) * 2 - 1
    label = torch.ones(batch_size, device=device)
    errD_real = criterion(netD(real), label)  # error: TV113
    errD_real.backward()
    noise = torch.randn(batch_size, nz, 1, 1, device=device)
    fake = netG(noise)
    errD_fake = criterion(netD(fake.detach()), torch.zeros_like(label))  # error: TV113
    errD_fake.backward()
    optD.step()

    # update G
    netG.zero_grad()
    errG = criterion(netD(fake), label)  # error: TV113
    errG.backward()
    optG.step()
    print(i, errD_real.item(), errD_fake.item(), errG.item())
